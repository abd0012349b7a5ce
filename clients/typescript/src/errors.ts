import type { components } from "./schema.js";

/** A wrong field of a request. */
export type FieldError = components["schemas"]["FieldError"];

/** An answer that isn't a success. */
export class MomentsError extends Error {
  override readonly name: string = "MomentsError";
  /** The answer's status. */
  readonly status: number;
  /** The wrong fields, each with its dotted path. */
  readonly fields: readonly FieldError[];
  /** Id of the request in the service's logs: quote it when you ask for help. */
  readonly requestId: string | undefined;
  /** Seconds until a retry makes sense. */
  readonly retryAfter: number | undefined;
  /** Ids of the request's transactions. */
  readonly transactionIds: readonly string[];

  constructor({ status, headers }: Response, body: { message?: string; errors?: FieldError[] } = {}) {
    // The service's message names the first of several wrong fields.
    const wrong = body.errors?.map(({ field, message }) => `${field} ${message}`).join("; ");
    super(wrong || body.message || `The service answered ${status}`);
    const wait = headers.get("retry-after");
    this.status = status;
    this.fields = body.errors ?? [];
    this.requestId = headers.get("x-request-id") ?? undefined;
    this.retryAfter = wait && /^\d+$/.test(wait) ? Number(wait) : undefined;
    this.transactionIds = headers.get("transaction-id")?.split(/, */) ?? [];
  }
}

/** 400: `fields` names each wrong field. */
export class InvalidInputError extends MomentsError {
  override readonly name = "InvalidInputError";
}

/** 401: no credential, or one that is wrong, expired or revoked. */
export class UnauthorizedError extends MomentsError {
  override readonly name = "UnauthorizedError";
}

/** 402: the artist's account can't pay for this. */
export class PaymentRequiredError extends MomentsError {
  override readonly name = "PaymentRequiredError";
}

/** 403: the artist may not do this. */
export class ForbiddenError extends MomentsError {
  override readonly name = "ForbiddenError";
}

/** 404: it doesn't exist. */
export class NotFoundError extends MomentsError {
  override readonly name = "NotFoundError";
}

/** 409: the current state doesn't allow it. */
export class ConflictError extends MomentsError {
  override readonly name = "ConflictError";
}

/** 422: valid, and the chain refuses it; the message has the contract's reason. */
export class UnprocessableError extends MomentsError {
  override readonly name = "UnprocessableError";
}

/** 429: a limit is used up. */
export class RateLimitedError extends MomentsError {
  override readonly name = "RateLimitedError";
}

/** 5xx: a fault of the service, or of one that it needs. */
export class ServiceError extends MomentsError {
  override readonly name = "ServiceError";
}

/** A transaction ended without doing what was asked. */
export class TransactionFailedError extends Error {
  override readonly name = "TransactionFailedError";

  constructor(readonly transaction: components["schemas"]["Transaction"]) {
    super(transaction.reason ?? `The transaction ${transaction.id} ${transaction.status}`);
  }
}

const CLASSES: Record<number, typeof MomentsError> = {
  400: InvalidInputError,
  401: UnauthorizedError,
  402: PaymentRequiredError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableError,
  429: RateLimitedError,
};

/** The error that an answer is. */
export async function errorOf(response: Response): Promise<MomentsError> {
  const Class = CLASSES[response.status] ?? (response.status >= 500 ? ServiceError : MomentsError);
  return new Class(response, (await response.json().catch(() => undefined)) ?? undefined);
}
