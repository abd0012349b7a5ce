// What is kept of the artist: to take along, and to have erased.

import { $, announce, call, confirmed, day, leave, nextOf, onClick, when } from "./kit.js";

onClick($("export"), $("data-problem"), async () => {
  const rows = [];
  let query = "";
  do {
    const page = await call("GET", `artists/me/export${query}`);
    rows.push(...page.rows);
    query = nextOf(page);
  } while (query);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(rows, null, 2)], { type: "application/json" }));
  link.download = "moments-account.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  announce("Downloaded.");
});

async function erase() {
  try {
    return await call("DELETE", "artists/me");
  } catch (refusal) {
    if (refusal.status !== 409) throw refusal;
    const text = `${refusal.message} What you leave in the account is lost for good.`;
    if (await confirmed("Leave your money behind?", text, "Leave it")) return call("DELETE", "artists/me", { abandon: true });
  }
}

onClick($("delete-account"), $("data-problem"), async () => {
  const text = "All that is kept of you is erased in a week; until then, signing in takes it back. What is on the chain stays there.";
  if (!await confirmed("Delete your account?", text, "Delete it")) return;
  const answer = await erase();
  if (answer) leave(`Your account will be erased on ${when(day, answer.erased_after)}. To keep it, sign in before.`);
});
