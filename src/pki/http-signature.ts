// HTTP message signatures (RFC 9421) with RSA and elliptic keys, of both sides. A request has one signature, without parameters of
// single components.
import { constants, createHash, type KeyObject, type SigningOptions, sign, verify } from "node:crypto";

/** The request as it was sent. Names of headers are in lower case. */
export interface SignedRequest {
  readonly method: string;
  /** The path in the request line, without the query. */
  readonly path: string;
  /** With its question mark; empty if there is none. */
  readonly query: string;
  header(name: string): string | null;
}

interface RequestSignature {
  /** The names of the signed components. */
  readonly components: readonly string[];
  /** The names of components and the parameters, as they were signed. */
  readonly params: string;
  readonly keyId: string;
  readonly algorithm: string | null;
  /** Seconds since 1970. */
  readonly created: number | null;
  readonly bytes: Buffer;
}

const MAX_HEADER_CHARACTERS = 8_192;
const INPUT =
  /^([a-z*][a-z0-9_.*-]*)=(\(((?:"[^"\\]+"(?: "[^"\\]+")*)?)\)((?:;[a-z*][a-z0-9_.*-]*(?:=(?:"[^"\\]*"|-?\d{1,15}))?)*))$/;
const PARAM = /;([a-z*][a-z0-9_.*-]*)(?:=(?:"([^"\\]*)"|(-?\d{1,15})))?/g;
const VALUE = /^([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]+={0,2}):$/;

/** Null if the request has no signature, or one of another form. */
export function readSignature(request: Pick<SignedRequest, "header">): RequestSignature | null {
  const input = request.header("signature-input")?.trim() ?? "";
  const value = request.header("signature")?.trim() ?? "";
  if (input === "" || input.length > MAX_HEADER_CHARACTERS || value.length > MAX_HEADER_CHARACTERS) return null;
  const [, label, params = "", names = "", list = ""] = INPUT.exec(input) ?? [];
  const [, other, base64 = ""] = VALUE.exec(value) ?? [];
  if (label === undefined || label !== other) return null;
  const signatureParams = new Map(
    [...list.matchAll(PARAM)].map(([, name, text, number]) => [name!, text ?? number ?? ""]),
  );
  const created = signatureParams.get("created");
  return {
    components: names === "" ? [] : names.slice(1, -1).split('" "'),
    params,
    keyId: signatureParams.get("keyid") ?? "",
    algorithm: signatureParams.get("alg") ?? null,
    created: created === undefined ? null : Number(created),
    bytes: Buffer.from(base64, "base64"),
  };
}

/** The text that is signed. Null: it contains a component that the request does not have, or one twice. */
function baseOf(request: SignedRequest, components: readonly string[], params: string): string | null {
  if (new Set(components).size !== components.length) return null;
  const lines: string[] = [];
  for (const name of components) {
    const value = componentOf(request, name);
    if (value === null) return null;
    lines.push(`"${name}": ${value}`);
  }
  return [...lines, `"@signature-params": ${params}`].join("\n");
}

function componentOf(request: SignedRequest, name: string): string | null {
  switch (name) {
    case "@method":
      return request.method;
    case "@path":
      return request.path;
    case "@query":
      return request.query === "" ? "?" : request.query;
    case "@authority":
      return request.header("host")?.toLowerCase() ?? null;
    default:
      return /^[a-z0-9-]+$/.test(name) ? (request.header(name)?.trim() ?? null) : null;
  }
}

interface Algorithm {
  readonly digest: string;
  /** `rsa`, or Node's name of the curve. */
  readonly keys: string;
  readonly options: Omit<SigningOptions, "key">;
}

/** RFC 9421, sections 3.3.1, 3.3.2, 3.3.4 and 3.3.5. Elliptic signatures are the two numbers, one after the other. */
const algorithms: ReadonlyMap<string, Algorithm> = new Map([
  ["rsa-v1_5-sha256", { digest: "sha256", keys: "rsa", options: { padding: constants.RSA_PKCS1_PADDING } }],
  [
    "rsa-pss-sha512",
    { digest: "sha512", keys: "rsa", options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 } },
  ],
  ["ecdsa-p256-sha256", { digest: "sha256", keys: "prime256v1", options: { dsaEncoding: "ieee-p1363" } }],
  ["ecdsa-p384-sha384", { digest: "sha384", keys: "secp384r1", options: { dsaEncoding: "ieee-p1363" } }],
]);

const keyType = (key: KeyObject): string =>
  key.asymmetricKeyType === "ec" ? (key.asymmetricKeyDetails?.namedCurve ?? "") : (key.asymmetricKeyType ?? "");

/** The algorithm of a key if none is named: for RSA keys the first one. */
const algorithmOf = (key: KeyObject): string | undefined =>
  [...algorithms].find(([, { keys }]) => keys === keyType(key))?.[0];

/** Whether the key has made the signature, with an algorithm for keys of its kind. */
export function verifySignature(request: SignedRequest, signature: RequestSignature, key: KeyObject): boolean {
  const algorithm = algorithms.get(signature.algorithm ?? algorithmOf(key) ?? "");
  const base = baseOf(request, signature.components, signature.params);
  if (algorithm === undefined || base === null || algorithm.keys !== keyType(key)) return false;
  return verify(algorithm.digest, Buffer.from(base, "latin1"), { key, ...algorithm.options }, signature.bytes);
}

interface Signing {
  readonly key: KeyObject;
  readonly keyId: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** Distinguishes requests that are alike otherwise: of characters of base64url. */
  readonly nonce?: string;
}

/** The headers that sign the method, the path, the query and the body. */
export function signRequest(
  request: Pick<SignedRequest, "method" | "path" | "query">,
  body: string | Uint8Array | null,
  { key, keyId, created, nonce }: Signing,
): Record<string, string> {
  const digest: Record<string, string> =
    body === null ? {} : { "content-digest": contentDigest(typeof body === "string" ? Buffer.from(body) : body) };
  const components = ["@method", "@path", "@query", ...Object.keys(digest)];
  const names = components.map((name) => `"${name}"`).join(" ");
  const name = algorithmOf(key);
  if (name === undefined) throw new Error("requests are signed with RSA keys, or keys of the curves P-256 and P-384");
  const { digest: hash, options } = algorithms.get(name)!;
  const more = nonce === undefined ? "" : `;nonce="${nonce}"`;
  const params = `(${names});created=${created}${more};keyid="${keyId}";alg="${name}"`;
  const header = (name: string): string | null => digest[name] ?? null;
  const base = baseOf({ ...request, header }, components, params)!;
  const bytes = sign(hash, Buffer.from(base, "latin1"), { key, ...options });
  return { ...digest, "signature-input": `sig=${params}`, signature: `sig=:${bytes.toString("base64")}:` };
}

const contentDigest = (body: Uint8Array): string => `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;

/** Whether the header (RFC 9530) has the SHA-256 of the body. Null: it has none. */
export function isDigestOf(header: string, body: Uint8Array): boolean | null {
  const [, encoded] = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]+={0,2}):/.exec(header) ?? [];
  if (encoded === undefined) return null;
  return `sha-256=:${encoded}:` === contentDigest(body);
}
