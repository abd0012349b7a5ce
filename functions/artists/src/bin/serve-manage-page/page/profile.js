// What everyone sees of an artist: name, picture, words and links.

import { $, announce, call, fill, onClick, onSubmit, session } from "./kit.js";
import { store } from "./store.js";
import { failWallets, forgetWallets, showWallets } from "./wallet-list.js";

const TEXTS = ["username", "bio", "instagram_username", "twitter_username", "telegram_username"];

let shown = {};

export async function loadProfile() {
  $("wallets").dataset.state = "loading";
  $("profile-form").inert = true;
  try {
    showArtist(await call("GET", `artists/${session.address}`));
  } catch (refusal) {
    failWallets(refusal, () => fill("profile", loadProfile));
    throw refusal;
  }
  $("profile-form").inert = false;
  return true;
}

function showArtist(artist) {
  shown = artist;
  $("self-title").textContent = artist.username || "Welcome";
  for (const name of TEXTS) $(name).value = artist[name];
  $("links").value = artist.links.join("\n");
  showPicture(artist.avatar);
  showWallets(artist.wallets);
}

/** The picture itself until smaller forms of it are made. */
function showPicture(avatar) {
  $("avatar").hidden = $("avatar-remove").hidden = !avatar;
  if (avatar) $("avatar").src = avatar.previews[0]?.url ?? avatar.url;
  else $("avatar").removeAttribute("src");
}

const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

onSubmit($("profile-form"), async (inputs) => {
  const outcome = $("profile-form").querySelector(".outcome");
  const change = Object.fromEntries(TEXTS.map((name) => [name, inputs.namedItem(name).value]).filter(([name, text]) => text !== shown[name]));
  const links = lines(inputs.namedItem("links").value);
  if (links.join("\n") !== shown.links.join("\n")) change.links = links;
  outcome.textContent = "";
  if (Object.keys(change).length) showArtist(await call("PATCH", "artists/me", change));
  outcome.textContent = Object.keys(change).length ? "Saved." : "Nothing to save.";
}, Object.fromEntries([0, 1, 2, 3, 4].map((index) => [`links.${index}`, "links"])));

onSubmit($("avatar-form"), async ({ "avatar-file": input }) => {
  const [file] = input.files;
  if (!file) return;
  const { uri } = await store(file, new AbortController().signal, "avatar-file");
  showPicture((await call("PATCH", "artists/me", { avatar: uri })).avatar);
  input.value = "";
  announce("Your picture is changed.");
}, { contentType: "avatar-file", size: "avatar-file", avatar: "avatar-file" });
$("avatar-file").addEventListener("change", () => $("avatar-form").requestSubmit());

onClick($("avatar-remove"), $("profile-form").querySelector(".problem"), async () => {
  showPicture((await call("PATCH", "artists/me", { avatar: "" })).avatar);
  announce("Your picture is removed.");
  $("avatar-file").focus();
});

export function forgetProfile() {
  shown = {};
  showPicture(null);
  forgetWallets();
}
