export { ETHER_DECIMALS, formatAmount, NO_END, parseAmount, saleEnd, USDC_DECIMALS } from "./amounts.js";
export { Moments, type MomentsOptions, type Schema } from "./client.js";
export * from "./errors.js";
export type { Published, PublishOptions } from "./publish.js";
export type { RetryOptions } from "./retry.js";
export type { components, paths } from "./schema.js";
export type { UploadContent, UploadOptions, UploadProgress } from "./upload.js";
export { InvalidWebhookError, verifyWebhook, type WebhookOptions } from "./webhooks.js";
