// Shows the contract with the script of Scalar, which comes from this service like everything else on the page.
Scalar.createApiReference("#app", {
  url: "openapi.json",
  agent: { disabled: true },
  mcp: { disabled: true },
  telemetry: false,
  withDefaultFonts: false,
  persistAuth: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  documentDownloadType: "json",
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
