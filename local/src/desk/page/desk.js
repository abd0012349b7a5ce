// One key, one decision: each control names its own.
"use strict";

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const field = event.target.closest("input:not([type=radio], [type=checkbox])");
  if (field) {
    if (event.key === "Escape") field.blur();
    return;
  }
  const focused = document.querySelector(`[data-focus="${CSS.escape(event.key)}"]`);
  const control = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (focused || control) event.preventDefault();
  focused?.focus();
  control?.click();
});

// A decision is sent once.
addEventListener("submit", (event) => {
  if (document.documentElement.dataset.sent) event.preventDefault();
  document.documentElement.dataset.sent = "yes";
});
addEventListener("pageshow", () => delete document.documentElement.dataset.sent);

async function follow() {
  while (document.querySelector("#carried[data-busy]")) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const answer = await fetch("carried").catch(() => undefined);
    if (!answer?.ok) continue;
    const list = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#carried");
    document.querySelector("#carried").replaceWith(list);
  }
}
addEventListener("DOMContentLoaded", follow);
