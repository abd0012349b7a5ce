// Makes pages nicer; everything works without it.

// The link to copy becomes a button: the system's share sheet where there is one, else the clipboard.
for (const place of document.querySelectorAll("[data-share]")) {
  const { share: url, title } = place.dataset;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = navigator.share ? "Share" : "Copy link";
  button.addEventListener("click", async () => {
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
