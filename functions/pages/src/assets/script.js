// Makes pages nicer; everything works without it.

// The link to copy becomes a button: the system's share sheet where there is one, else the clipboard.
for (const place of document.querySelectorAll("[data-share]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = navigator.share ? "Share" : "Copy link";
  button.addEventListener("click", async () => {
    const { share: url, title } = place.dataset;
    try {
      if (navigator.share) return await navigator.share({ title, url });
      await navigator.clipboard.writeText(url);
      button.textContent = "Copied";
    } catch (error) {
      if (error.name !== "AbortError") place.querySelector("input").select();
    }
  });
  place.append(button);
}

// Older moments come to the grid, instead of a page of their own.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.(".more a");
  const grid = document.querySelector(".grid");
  if (!link || !grid || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const request = new XMLHttpRequest();
  request.open("GET", link.href);
  request.responseType = "document";
  request.onerror = () => location.assign(link.href);
  request.onload = () => {
    const cards = [...(request.response?.querySelectorAll(".grid > li") ?? [])];
    if (!cards.length) return location.assign(link.href);
    const more = request.response.querySelector(".more a");
    grid.append(...cards);
    cards[0].querySelector("a").focus();
    if (more) link.href = more.href;
    else link.parentElement.remove();
  };
  request.send();
});

// Who sent the visitor: their name goes along from page to page.
let referral = new URLSearchParams(location.search).get("ref") || undefined;
const withReferral = (address, name) => {
  const url = new URL(address, location.href);
  url.searchParams.set("ref", name);
  return url.href;
};
if (referral) {
  for (const link of document.querySelectorAll("a[href]")) {
    if (new URL(link.href).origin === location.origin) link.href = withReferral(link.href, referral);
  }
}

const post = async (api, path, body, headers = {}) => {
  try {
    const response = await fetch(`${api}/${path}`, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });
    return { status: response.status, isOk: response.ok, answer: await response.json() };
  } catch {
    throw new Error("The service can’t be reached: try again in a moment.");
  }
};

// A form is sent once at a time, and says what became of it.
const onSubmit = (form, note, act) => form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const pressed = form.querySelector("button");
  if (pressed.ariaDisabled === "true") return;
  pressed.ariaDisabled = "true";
  note.textContent = "One moment…";
  try {
    note.textContent = (await act(form.elements)) ?? "";
  } catch (error) {
    note.textContent = error.message;
  }
  pressed.ariaDisabled = "false";
});

// Wallets of the browser make themselves known (EIP-6963).
const wallets = new Map();
addEventListener("eip6963:announceProvider", ({ detail: { info, provider } }) => wallets.set(info.uuid, { name: info.name, provider }));
dispatchEvent(new Event("eip6963:requestProvider"));

// Sends an order's calls at once where the wallet can (EIP-5792), else one after another.
const sendCalls = async ({ provider }, from, { chainId, calls }) => {
  const ask = (method, ...params) => provider.request({ method, params });
  const chain = `0x${chainId.toString(16)}`;
  if ((await ask("eth_chainId")) !== chain) await ask("wallet_switchEthereumChain", { chainId: chain });
  try {
    return await ask("wallet_sendCalls", { version: "2.0.0", chainId: chain, from, atomicRequired: calls.length > 1, calls });
  } catch (error) {
    // Refused by its owner.
    if (error.code === 4001) throw error;
  }
  for (const [place, call] of calls.entries()) {
    const hash = await ask("eth_sendTransaction", { from, ...call });
    // What comes next needs this one.
    for (let tries = 0; place + 1 < calls.length; tries++) {
      const receipt = await ask("eth_getTransactionReceipt", hash);
      if (receipt?.status === "0x1") break;
      if (receipt || tries > 90) throw new Error("Your wallet’s approval failed: nothing was bought.");
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
};

for (const place of document.querySelectorAll(".report")) {
  const form = place.querySelector("form");
  onSubmit(form, place.querySelector("[role=status]"), async ({ reason, text, email }) => {
    const body = { subject: JSON.parse(place.dataset.subject), reason: reason.value };
    if (text.value.trim()) body.text = text.value.trim();
    if (email.value.trim()) body.email = email.value.trim();
    const { isOk, answer } = await post(place.dataset.api, "reports", body);
    if (!isOk) throw new Error(answer.message);
    form.reset();
    return "Thank you. The operator of this site will look at it.";
  });
}

// "Collect" asks for an address, for the code that is mailed to it, and for the order. The token is forgotten with the page.
for (const place of document.querySelectorAll(".collect")) {
  const [email, code, order] = place.querySelectorAll("form");
  const note = place.querySelector("[role=status]");
  const button = document.createElement("button");
  let nonce, token, key;

  // Whoever collected is the sender of those who come by their link.
  const shareAs = (account) => {
    const share = document.querySelector("[data-share]");
    const field = share.querySelector("input");
    share.dataset.share = field.value = withReferral(share.dataset.share, account);
  };
  const show = (form) => {
    for (const each of [email, code, order]) each.hidden = each !== form;
    place.hidden = false;
    form.querySelector("input").focus();
  };
  const ask = async (path, body, headers) => {
    const { status, isOk, answer } = await post(place.dataset.api, path, body, headers);
    if (isOk) return { status, ...answer };
    // A sender who is nobody, or the visitor, keeps nobody from collecting.
    if (body.referral && answer.errors?.every(({ field }) => field === "referral")) {
      referral = undefined;
      return ask(path, { ...body, referral }, headers);
    }
    if (status === 401 && token) show(email);
    throw new Error(answer.message);
  };

  onSubmit(email, note, async ({ email: { value } }) => {
    nonce = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    await ask("oauth/code", { email: value.trim(), nonce });
    show(code);
    return `A code is on its way to ${value.trim()}.`;
  });
  onSubmit(code, note, async ({ code: { value } }) => {
    const session = await ask("oauth/login", { email: email.elements.email.value.trim(), code: value.trim(), nonce });
    token = session.token;
    order.querySelector("code").textContent = session.social_wallet;
    show(order);
  });
  onSubmit(order, note, async ({ comment: { value } }) => {
    // The same order again, after a failure that says nothing of its outcome, is done once.
    key ??= crypto.getRandomValues(new Uint32Array(4)).join("-");
    const { moment, most: maxPrice } = place.dataset;
    const headers = { authorization: `Bearer ${token}`, "idempotency-key": key };
    const { status } = await ask("moment/collect", { moment: JSON.parse(moment), amount: 1, comment: value.trim(), maxPrice, referral }, headers);
    key = undefined;
    order.hidden = true;
    shareAs(order.querySelector("code").textContent);
    return status === 202 ? "It is on its way: it will be yours in a minute." : "It is yours.";
  });

  const collectWith = async (wallet) => {
    const [account] = await wallet.provider.request({ method: "eth_requestAccounts" });
    const { moment, most: maxPrice } = place.dataset;
    const order = await ask("moment/collect/prepare", { moment: JSON.parse(moment), amount: 1, account, maxPrice, referral });
    await sendCalls(wallet, account, order);
    shareAs(account);
    return "It is on its way: it will be yours in a minute.";
  };
  const offerWallets = () => {
    for (const wallet of wallets.values()) {
      const own = document.createElement("form");
      const press = document.createElement("button");
      press.textContent = `Collect with ${wallet.name}`;
      own.append(press);
      place.prepend(own);
      onSubmit(own, note, () => collectWith(wallet));
    }
  };

  button.type = "button";
  button.textContent = "Collect";
  button.addEventListener("click", () => {
    button.remove();
    offerWallets();
    show(email);
  });
  place.previousElementSibling.replaceWith(button);
}
