// Mails as their readers see them: HTML in each theme and width, and the same words as text. Leaves screenshots in
// .local/pictures.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { found, launch, looks, looksRight, mailsTo, newPage, newsMail, open, pictures, show, signIn, unusedEmail } from "./support.mjs";

let browser, mails;
before(async () => {
  mkdirSync(pictures, { recursive: true });
  browser = await launch();
  const email = unusedEmail();
  const page = await open(browser);
  await signIn(page, email);
  await show(page, "Programs");
  await page.getByLabel("Name of a new key").fill("<b>Gallery</b>");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("heading", { name: "Your new key" }).waitFor();
  const [code, notice] = await found(async () => {
    const sent = await mailsTo(email);
    return sent.length >= 2 && sent;
  }, "the mails");
  mails = { code, notice, news: await newsMail(page, email) };
  await page.context().close();
});
after(() => browser?.close());

for (const { colorScheme, width } of looks) {
  test(`mails, ${colorScheme} at ${width} pixels`, async () => {
    for (const [name, mail] of Object.entries(mails)) {
      const page = await newPage(browser, { colorScheme, viewport: { width, height: 740 } });
      const loaded = [];
      page.on("request", (request) => loaded.push(request.url()));
      await page.setContent(mail.BodyHtml);
      await page.screenshot({ path: `${pictures}/mail-${name}-${width}-${colorScheme}.png`, fullPage: true });
      await looksRight(page, `mail ${name} at ${width}`);
      assert.deepEqual(loaded, [], "a mail that loads something tells who reads it");
      const shown = (await page.locator("body").innerText()).replace(/\s+/g, " ");
      const words = mail.BodyText.split(/[\r\n]+/).filter((line) => line && !line.startsWith("http"));
      for (const word of words.flatMap((line) => line.split(/: (?=\S+$)/))) assert.ok(shown.includes(word.replace(/ \d{6}$/, "")), `${word} in ${shown}`);
      assert.equal(await page.locator("b").count(), 0);
      await page.context().close();
    }
  });
}
