// Shows the contract with the script of Scalar, which comes from this service like everything else on the page.
// On the machine itself, the address may bring a key for test requests. Elsewhere, a link must not give readers a key.
const here = new URL(location.href);
const key = ["127.0.0.1", "localhost", "[::1]"].includes(here.hostname) && here.searchParams.get("key");
const authentication = key ? { preferredSecurityScheme: "apiKey", securitySchemes: { apiKey: { value: key } } } : {};

Scalar.createApiReference("#app", {
  authentication,
  url: "openapi.json",
  agent: { disabled: true },
  mcp: { disabled: true },
  telemetry: false,
  withDefaultFonts: false,
  persistAuth: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  documentDownloadType: "json",
  // Scalar's own colours of small texts are too pale to be read by everyone.
  customCss: `
    .light-mode { --scalar-color-3: #6a6a6a; --scalar-color-green: #00754a; --scalar-color-orange: #a34e00; --scalar-color-red: #c21f14; --scalar-color-blue: #0063b5; --scalar-color-yellow: #7a5c00; }
    .dark-mode { --scalar-color-3: #9b9b9b; --scalar-color-red: #ff7a70; }
  `,
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  featuredClients: ["shell/curl", "python/requests", "js/fetch", "rust/reqwest"],
  // The samples are those of the languages that most callers use.
  hiddenClients: {
    c: true, clojure: true, csharp: true, dart: true, fsharp: true, go: true, http: true, java: true, julia: true,
    kotlin: true, node: true, objc: true, ocaml: true, php: true, powershell: true, r: true, ruby: true, swift: true,
    js: ["axios", "jquery", "ofetch", "xhr"], python: ["aiohttp", "httpx_async", "httpx_sync", "python3"],
    shell: ["httpie", "wget"],
  },
});
