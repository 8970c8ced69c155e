// Addresses of buckets: s3://BUCKET/PREFIX?endpoint=URL&region=NAME&path_style=true
export interface BucketAddress {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  /** The server's URL, or null for Amazon's own. */
  readonly endpoint: string | null;
  /** Null: from AWS_REGION or the AWS configuration file. */
  readonly region: string | null;
  /** Whether the bucket's name is in the path of requests instead of the host name. */
  readonly pathStyle: boolean;
}

class BadBucketUrl extends Error {}

const PARAMETERS = ["endpoint", "region", "path_style"];
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/;
const PREFIX = /^([A-Za-z0-9][A-Za-z0-9._-]*\/)*$/;

export const isBucketUrl = (text: string): boolean => text.startsWith("s3://");

/** Throws `BadBucketUrl` with a reason that does not repeat the URL. */
export function readBucketUrl(text: string): BucketAddress {
  const refuse = (reason: string) => new BadBucketUrl(reason);
  if (!isBucketUrl(text) || !URL.canParse(text)) throw refuse("must be s3://BUCKET or s3://BUCKET/PREFIX?endpoint=URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    throw refuse(
      "credentials do not belong in the URL: set SVC_BLOBS_ACCESS_KEY_ID and SVC_BLOBS_SECRET_ACCESS_KEY instead",
    );
  if (url.port !== "" || !NAME.test(url.hostname))
    throw refuse("the name after s3:// is not a bucket; the server's address belongs into ?endpoint=URL");
  for (const name of url.searchParams.keys())
    if (!PARAMETERS.includes(name)) throw refuse(`unknown parameter ${name}; there are ${PARAMETERS.join(", ")}`);
  const folder = url.pathname.replace(/^\/+|\/+$/g, "");
  const prefix = folder === "" ? "" : `${folder}/`;
  if (!PREFIX.test(prefix))
    throw refuse("the prefix may contain letters, digits, dots, dashes, underscores and slashes");
  const endpoint = url.searchParams.get("endpoint");
  const style = url.searchParams.get("path_style");
  if (style !== null && style !== "true" && style !== "false") throw refuse("path_style must be true or false");
  return {
    bucket: url.hostname,
    prefix,
    endpoint: endpoint === null ? null : endpointOf(endpoint),
    // Other vendors' servers accept any region; most expect this one.
    region: url.searchParams.get("region") ?? (endpoint === null ? null : "us-east-1"),
    pathStyle: style === null ? endpoint !== null : style === "true",
  };
}

function endpointOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw new BadBucketUrl("endpoint must begin with https:// or http://");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw new BadBucketUrl("endpoint must be an address without credentials and parameters");
  return url.href.replace(/\/$/, "");
}
