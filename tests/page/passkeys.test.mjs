// Passkeys on the page, with the browser's own authenticator in software.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { address, agePasskeys, giveProof, giveWallet, isIn, launch, looksRight, open, proofCodeFor, setNumber, show, signIn } from "./support.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** An IP address can't have passkeys. */
const local = address.replace("127.0.0.1", "localhost");

/** An account of the local chain's node, of this file alone. */
const WALLET = "0x976ea74026e726554db657fa54763abd0c3a0aa9";

const button = (page, name) => page.getByRole("button", { name, exact: true });

async function openWithAuthenticator() {
  const page = await open(browser);
  await page.goto(local);
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", { options });
  return { page, passkeys: async () => (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials, session, authenticatorId };
}

test("passkey is added, signs in without a mail, is asked for instead of a code a day later, and is removed", async () => {
  const { page, passkeys } = await openWithAuthenticator();
  const email = await signIn(page);
  const account = await page.locator("#self-address").textContent();
  await show(page, "Account");
  await page.getByText("You have no passkeys.").waitFor();
  await page.getByLabel("Name of a new passkey").fill("My laptop");
  await button(page, "Add a passkey").click();
  await giveProof(page, email);
  await page.getByText("My laptop").first().waitFor();
  const [made] = await passkeys();
  assert.ok(made.isResidentCredential && made.rpId === "localhost");
  await looksRight(page, "with a passkey");

  // The sign-in was by mail: what takes the passkey, a day later, asks the browser for it, and for no code.
  await agePasskeys(page);
  await page.reload();
  await isIn(page);
  const payee = `0x${crypto.randomUUID().replaceAll("-", "").padEnd(40, "0")}`;
  await show(page, "Money");
  await page.getByLabel("Another address").fill(payee);
  await button(page, "Add address").click();
  await page.getByText("Money can go there from").first().waitFor();
  assert.equal(await page.locator("#again").isVisible(), false);

  await button(page, "Sign out").click();
  await button(page, "Sign in with a passkey").click();
  await isIn(page);
  await show(page, "Account");
  assert.equal(await page.locator("#self-address").textContent(), account);
  assert.ok((await passkeys())[0].signCount > made.signCount);

  // Its own answer removes it at once, and ends what was signed in with it.
  await button(page, "Remove My laptop").click();
  await button(page, "Remove").click();
  await page.getByText("Your session has ended.").waitFor();
  await button(page, "Sign in with a passkey").click();
  await page.getByText("The passkey is not known here").waitFor();
  assert.deepEqual(page.consoleErrors.filter((error) => !error.includes("401")), []);
  await page.context().close();
});

test("lost passkey is removed in a week by a code, and kept by both", async () => {
  const { page, session, authenticatorId } = await openWithAuthenticator();
  const email = await signIn(page);
  await show(page, "Account");
  await page.getByText("You have no passkeys.").waitFor();
  await page.getByLabel("Name of a new passkey").fill("My phone");
  await button(page, "Add a passkey").click();
  await giveProof(page, email);
  await button(page, "Remove My phone").waitFor();
  await agePasskeys(page);
  await page.reload();
  await isIn(page);
  await show(page, "Account");

  const verify = (isUserVerified) => session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
  await verify(false);
  await button(page, "Remove My phone").click();
  await button(page, "Remove").click();
  await giveProof(page, email, 1);
  await page.getByText("unless you keep it").waitFor();
  await verify(true);
  await button(page, "Keep My phone").click();
  await giveProof(page, email, 2);
  await page.getByText("unless you keep it").waitFor({ state: "detached" });
  assert.deepEqual(page.consoleErrors.filter((error) => !error.includes("401")), []);
  await page.context().close();
});

test("who has no code adds a passkey with a wallet of yesterday", async () => {
  const { page, passkeys } = await openWithAuthenticator();
  await giveWallet(page, WALLET);
  const email = await signIn(page);
  await show(page, "Account");
  await button(page, "Connect Test Wallet").click();
  await giveProof(page, email);
  await page.getByText("Your own", { exact: true }).waitFor();
  const add = async (known) => {
    await page.getByLabel("Name of a new passkey").fill("My key");
    await button(page, "Add a passkey").click();
    await proofCodeFor(page, email, known);
    await page.locator("#proof-no").click();
  };
  await add(1);
  await page.getByText("Nothing was changed: it needs the code.").waitFor();
  assert.deepEqual(await passkeys(), [], "the device keeps a passkey that wasn't added");

  await setNumber("ArtistTable", `WALLET#${WALLET}`, "ARTIST", "connected_at", 1_700_000_000);
  await add(2);
  await button(page, "Remove My key").waitFor();
  await button(page, `Disconnect ${WALLET}`).click();
  await button(page, "Disconnect").click();
  await page.locator("#wallet-list li").nth(1).waitFor({ state: "detached" });
  assert.deepEqual(page.consoleErrors.filter((error) => !error.includes("400")), []);
  await page.context().close();
});

test("who declines is told so, and who has no passkey signs in by mail as before", async () => {
  const { page, session, authenticatorId } = await openWithAuthenticator();
  await session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  await button(page, "Sign in with a passkey").click();
  await page.getByText("No passkey was used").waitFor();
  await signIn(page);
  await page.context().close();
});
