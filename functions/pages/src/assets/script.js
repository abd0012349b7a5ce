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

// Signing in asks for an address, and for the code that is mailed to it. A phone may drop the page meanwhile: it goes on there.
const signIn = ([email, code], note, ask, show, done) => {
  let { address, nonce } = JSON.parse(sessionStorage.getItem("sign-in") ?? "{}");
  const asked = () => `A code is on its way to ${address}.`;
  if (address) email.elements.email.value = address;
  onSubmit(email, note, async ({ email: { value } }) => {
    address = value.trim();
    nonce = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    await ask("oauth/code", { email: address, nonce });
    sessionStorage.setItem("sign-in", JSON.stringify({ address, nonce }));
    show(code);
    return asked();
  });
  onSubmit(code, note, async ({ code: { value } }) => {
    const session = await ask("oauth/login", { email: address, code: value.trim(), nonce });
    sessionStorage.removeItem("sign-in");
    return done(session);
  });
  return address && (() => {
    show(code);
    note.textContent = asked();
  });
};

// A sale that is to come counts down, and is there without a reload when it starts. Whoever wants less motion sees the minutes.
const untilThen = (seconds, isCalm) => {
  const [days, hours, minutes] = [Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
  const two = (number) => String(number).padStart(2, "0");
  if (!isCalm) return `${days ? `${days} d ` : ""}${two(hours)}:${two(minutes)}:${two(seconds % 60)}`;
  if (seconds < 60) return "in less than a minute";
  return `in ${days ? `${days} d ` : ""}${days || hours ? `${hours} h ` : ""}${minutes} min`;
};
for (const place of document.querySelectorAll(".opening")) {
  const count = place.querySelector(".count");
  const opens = Number(place.dataset.opens) * 1000;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  // What changes every second isn't read out; when it starts is.
  count.setAttribute("aria-hidden", "true");
  const tick = () => {
    const left = opens - Date.now();
    if (left <= 0) {
      place.textContent = "It is open now.";
      const [waiting, opened] = [".waiting", ".opened"].map((name) => place.parentElement.querySelector(name));
      waiting?.replaceWith(...opened.childNodes);
      opened?.remove();
      return;
    }
    const words = untilThen(Math.ceil(left / 1000), calm.matches);
    if (count.textContent !== words) count.textContent = words;
    setTimeout(tick, Math.min(left, left % 1000 || 1000));
  };
  tick();
}

// "Collect" asks for an address, for the code that is mailed to it, and for the order. The token is forgotten with the page.
for (const place of document.querySelectorAll(".collect")) {
  const [email, code, order] = place.querySelectorAll("form");
  const note = place.querySelector("[role=status]");
  const button = document.createElement("button");
  let token, key, entry, waits = 0;

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
    throw Object.assign(new Error(answer.message), { missing: answer.missing?.[0] });
  };

  // What is missing can be sent from anywhere: its arrival is seen here.
  const waitFor = async ({ currency, amount, decimalAmount, balance }) => {
    const [part, turn] = [place.querySelector(".deposit"), ++waits];
    const account = order.querySelector("code").textContent;
    const { chainId } = JSON.parse(place.dataset.moment);
    const read = async () => {
      const answer = await (await fetch(`${place.dataset.api}/smartwallet?address=${account}&chainId=${chainId}`)).json();
      return { ...answer, ...answer.balances.find(({ symbol }) => symbol === currency) };
    };
    const { onRamp, depositUri, depositCode } = await read();
    part.querySelector("strong").textContent = `${decimalAmount} ${currency}`;
    const make = (name, properties) => Object.assign(document.createElement(name), properties);
    const href = depositUri + (currency === "ETH" ? `?value=${amount}` : `&uint256=${amount}`);
    const alt = "QR code of the payment, for a wallet’s camera";
    const wallet = make("a", { className: "wallet", href });
    wallet.append(make("img", { className: "code", src: `${depositCode}&amount=${amount}`, alt, width: 180, height: 180 }), "Open in a wallet");
    const ways = [wallet];
    if (onRamp) ways.push(make("a", { href: onRamp, target: "_blank", rel: "noopener noreferrer", textContent: "Buy it by card or bank transfer" }));
    part.replaceChildren(part.firstElementChild, ...ways);
    part.hidden = false;
    note.textContent = "";
    for (const enough = BigInt(balance) + BigInt(amount); ;) {
      await new Promise((done) => setTimeout(done, 3000));
      if (document.hidden) continue;
      const now = await read().catch(() => undefined);
      if (turn !== waits) return;
      if (now?.amount && BigInt(now.amount) >= enough) break;
    }
    part.hidden = true;
    note.textContent = `${decimalAmount} ${currency} arrived.`;
    order.querySelector("button").focus();
  };

  // An account on the moment's list has a price of its own, and no way to say something with it.
  const findEntry = async (account) => {
    if (!place.dataset.fee) return;
    const query = new URLSearchParams({ ...JSON.parse(place.dataset.moment), account });
    const response = await fetch(`${place.dataset.api}/moment/allow-list?${query}`);
    const answer = await response.json();
    entry = response.ok ? answer : undefined;
    if (!response.ok && !place.dataset.most) throw new Error(answer.message);
  };
  const most = () => entry ? String(BigInt(entry.price) + BigInt(place.dataset.fee)) : place.dataset.most;
  const inEther = (wei) => String(wei).padStart(19, "0").replace(/(\d{18})$/, ".$1").replace(/\.?0+$/, "");

  signIn([email, code], note, ask, show, async (session) => {
    token = session.token;
    order.querySelector("code").textContent = session.social_wallet;
    await findEntry(session.social_wallet);
    if (entry) {
      order.querySelector(".said-with").hidden = true;
      order.querySelector("button").textContent = entry.price === "0" ? "Collect: Free" : `Collect: ${inEther(entry.price)} ETH`;
    }
    show(order);
  });
  onSubmit(order, note, async ({ comment: { value } }) => {
    // The same order again, after a failure that says nothing of its outcome, is done once.
    key ??= crypto.getRandomValues(new Uint32Array(4)).join("-");
    const [{ moment }, maxPrice] = [place.dataset, most()];
    const headers = { authorization: `Bearer ${token}`, "idempotency-key": key };
    const body = { moment: JSON.parse(moment), amount: 1, comment: value.trim(), maxPrice, referral };
    const { status } = await ask("moment/collect", body, headers).catch((error) => {
      if (!error.missing) throw error;
      // Nothing was begun.
      key = undefined;
      waitFor(error.missing).catch(() => {});
      throw error;
    });
    key = undefined;
    order.hidden = true;
    shareAs(order.querySelector("code").textContent);
    return status === 202 ? "It is on its way: it will be yours in a minute." : "It is yours.";
  });

  const collectWith = async (wallet) => {
    const [account] = await wallet.provider.request({ method: "eth_requestAccounts" });
    await findEntry(account);
    const [{ moment }, maxPrice] = [place.dataset, most()];
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

// "Claim" gives whoever is signed in a token, or asks for what is missing. The session is the site's, in a cookie.
for (const place of document.querySelectorAll(".claim")) {
  const [press, email, code] = place.querySelectorAll("form");
  const note = place.querySelector("[role=status]");
  const { api, token, chain } = place.dataset;
  const show = (form) => {
    for (const each of [press, email, code]) each.hidden = each !== form;
    form?.querySelector("input")?.focus();
  };
  const ask = async (path, body) => {
    const { isOk, answer, status } = await post(api, path, body, { "moments-session": "cookie" });
    if (isOk) return { ...answer, isDone: status !== 202 };
    throw Object.assign(new Error(answer.message), { status });
  };
  const finish = () => {
    for (const form of place.querySelectorAll("form")) form.hidden = true;
    document.querySelector(".done").hidden = false;
  };
  const claim = async () => {
    for (let tries = 0; tries < 30; tries++) {
      if ((await ask(`claims/${token}`, {})).isDone) return finish();
      await new Promise((done) => setTimeout(done, 2000));
    }
    return "It is on its way: look again in a minute.";
  };

  onSubmit(press, note, async () => {
    try {
      return await claim();
    } catch (error) {
      if (error.status !== 401) throw error;
      offerWallets();
      show(email);
    }
  });
  const resume = signIn([email, code], note, ask, show, claim);

  const claimWith = async ({ provider }) => {
    const [address] = await provider.request({ method: "eth_requestAccounts" });
    const { message } = await ask("oauth/wallet/challenge", { address: address.toLowerCase(), chainId: Number(chain) });
    const bytes = Array.from(new TextEncoder().encode(message), (byte) => byte.toString(16).padStart(2, "0"));
    const signature = await provider.request({ method: "personal_sign", params: [`0x${bytes.join("")}`, address] });
    if ((await ask(`claims/${token}`, { message, signature })).isDone) return finish();
    show();
    return "It is on its way: it will be yours in a minute.";
  };
  const offerWallets = () => {
    for (const wallet of wallets.values()) {
      const own = document.createElement("form");
      const pressed = document.createElement("button");
      pressed.textContent = `Claim with ${wallet.name}`;
      own.append(pressed);
      email.after(own);
      onSubmit(own, note, () => claimWith(wallet));
    }
  };

  place.hidden = false;
  resume?.();
}
