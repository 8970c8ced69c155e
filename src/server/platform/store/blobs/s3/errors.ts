// What a bucket's server answers when a request fails, as errors of this store.
import { messageOf } from "../../../../../text/error-message.ts";
import { BlobsMisconfigured, BlobsUnavailable } from "../blobs.ts";

export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "");

export function statusOf(error: unknown): number {
  const metadata = (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata;
  return metadata?.httpStatusCode ?? 0;
}

/** What only the administrator of the bucket or of this server can correct. */
const REFUSALS: Readonly<Record<string, string>> = {
  NoSuchBucket: "the bucket does not exist",
  InvalidAccessKeyId: "the access key is unknown there",
  SignatureDoesNotMatch: "the secret access key is wrong",
  AccessDenied: "the access key is not allowed to do this",
  PermanentRedirect: "the bucket is in another region",
  AuthorizationHeaderMalformed: "the region is wrong",
  CredentialsProviderError: "there are no credentials",
  ExpiredToken: "the credentials have expired",
};

/** The original error contains the whole request with its signature, so it is neither passed on nor logged. */
export function explained(error: unknown, place: string): Error {
  if (error instanceof BlobsUnavailable) return error;
  const refusal = REFUSALS[nameOf(error)] ?? (statusOf(error) === 403 ? REFUSALS.AccessDenied : undefined);
  if (refusal !== undefined) return new BlobsMisconfigured(`${place}: ${refusal} (${nameOf(error)})`);
  return new BlobsUnavailable(`${place} cannot be reached: ${unavailability(error)}`);
}

function unavailability(error: unknown): string {
  const status = statusOf(error);
  if (status > 0) return `it answers ${status} ${nameOf(error)}`;
  if (["AbortError", "TimeoutError"].includes(nameOf(error))) return "it does not answer in time";
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return messageOf(error);
}
