// A small S3-compatible server, as strict as Amazon's where clients go wrong: signatures and digests are verified,
// objects become visible at once and whole, and parts have a least size. Tests can let it fail.
import { createHash, createHmac, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export const BUCKET = "svc-test";
export const ACCESS_KEY = { accessKeyId: "test-key", secretAccessKey: "test/secret+key" };
const LEAST_PART = 5 * 1024 * 1024;
const BATCH_SIZE = 3;

export interface StorageRequest {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly range: string | undefined;
}

export type Fault =
  | { readonly status: number; readonly code: string }
  /** Ends the connection: before anything is done, or after it is done and before the reply. */
  | { readonly cut: "before" | "after" }
  /** Ends the connection, or sends nothing more, after so many bytes of the reply's body. */
  | { readonly cutAt: number }
  | { readonly silentAt: number }
  | "silent";

interface StoredObject {
  readonly body: Buffer;
  readonly etag: string;
  readonly modified: Date;
  readonly metadata: Record<string, string>;
}

interface Upload {
  readonly key: string;
  readonly initiated: Date;
  readonly metadata: Record<string, string>;
  readonly parts: Map<number, { body: Buffer; etag: string }>;
}

export interface S3Server {
  readonly url: string;
  readonly objects: Map<string, StoredObject>;
  readonly uploads: Map<string, Upload>;
  readonly asked: StorageRequest[];
  /** Called for each request. */
  fault: (asked: StorageRequest) => Fault | undefined;
  close(): Promise<void>;
}

class RequestRefused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

export async function startS3(options: { port?: number } = {}): Promise<S3Server> {
  const objects = new Map<string, StoredObject>();
  const uploads = new Map<string, Upload>();
  const asked: StorageRequest[] = [];

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url!, "http://x");
    const [, bucket, ...rest] = decodeURIComponent(url.pathname).split("/");
    const one = { method: req.method!, key: rest.join("/"), query: url.searchParams, range: req.headers.range };
    asked.push(one);
    const fault = server.fault(one);
    if (fault === "silent") return;
    if (fault && "cut" in fault && fault.cut === "before") return void req.socket.destroy();
    const body = await buffer(req);
    try {
      verifySignature(req, url, body);
      if (fault && "status" in fault) throw new RequestRefused(fault.status, fault.code);
      if (bucket !== BUCKET) throw new RequestRefused(404, "NoSuchBucket");
      const reply = one.key === "" ? ofBucket(one) : ofObject(one, req, body);
      if (fault && "cut" in fault) return void req.socket.destroy();
      res.writeHead(reply.status, reply.headers);
      if (req.method === "HEAD" || !fault || !("cutAt" in fault || "silentAt" in fault))
        return void res.end(reply.body);
      const at = "cutAt" in fault ? fault.cutAt : fault.silentAt;
      res.write(reply.body.subarray(0, at), () => {
        if ("cutAt" in fault) req.socket.destroy();
      });
    } catch (error) {
      if (!(error instanceof RequestRefused)) throw error;
      const xml = `<Error><Code>${error.code}</Code><Message>refused</Message></Error>`;
      res.writeHead(error.status, { "content-type": "application/xml" }).end(req.method === "HEAD" ? "" : xml);
    }
  }

  function ofBucket({ method, query }: StorageRequest) {
    if (method !== "GET") throw new RequestRefused(405, "MethodNotAllowed");
    const prefix = query.get("prefix") ?? "";
    if (query.has("uploads")) {
      const all = [...uploads].filter(([, upload]) => upload.key.startsWith(prefix));
      const from = all.findIndex(([id]) => id === query.get("upload-id-marker")) + 1;
      const page = all.slice(from, from + BATCH_SIZE);
      const isTruncated = all.length > from + BATCH_SIZE;
      const [lastId, last] = page.at(-1) ?? ["", null];
      return xml(
        "ListMultipartUploadsResult",
        `<IsTruncated>${isTruncated}</IsTruncated><NextKeyMarker>${last?.key ?? ""}</NextKeyMarker>` +
          `<NextUploadIdMarker>${lastId}</NextUploadIdMarker>` +
          page
            .map(
              ([id, { key, initiated }]) =>
                `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${initiated.toISOString()}</Initiated></Upload>`,
            )
            .join(""),
      );
    }
    // The token is the last key of the page before, which may have been deleted meanwhile.
    const after = query.get("continuation-token") ?? "";
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const page = keys.slice(0, Math.min(BATCH_SIZE, Number(query.get("max-keys") ?? BATCH_SIZE)));
    const isTruncated = keys.length > page.length;
    return xml(
      "ListBucketResult",
      `<IsTruncated>${isTruncated}</IsTruncated>` +
        (isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : "") +
        page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join(""),
    );
  }

  function ofObject({ method, key, query, range }: StorageRequest, req: IncomingMessage, body: Buffer) {
    const metadata = Object.fromEntries(
      Object.entries(req.headers).filter(([name]) => name.startsWith("x-amz-meta-")),
    ) as Record<string, string>;
    const id = query.get("uploadId");
    if (method === "POST" && query.has("uploads")) {
      const made = randomUUID();
      uploads.set(made, { key, initiated: new Date(), metadata, parts: new Map() });
      return xml("InitiateMultipartUploadResult", `<UploadId>${made}</UploadId>`);
    }
    if (id !== null) {
      const upload = uploads.get(id);
      if (!upload || upload.key !== key) throw new RequestRefused(404, "NoSuchUpload");
      if (method === "DELETE") {
        uploads.delete(id);
        return done(204);
      }
      if (method === "PUT") {
        upload.parts.set(Number(query.get("partNumber")), { body, etag: etagOf(body) });
        return done(200, { etag: etagOf(body) });
      }
      const named = [...body.toString().matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part]) => ({
        number: Number(/<PartNumber>(\d+)</.exec(part!)![1]),
        etag: /<ETag>(.*?)</.exec(part!)![1]!.replaceAll("&quot;", '"'),
      }));
      const parts = named.map(({ number, etag }, i) => {
        const part = upload.parts.get(number);
        if (!part || part.etag !== etag) throw new RequestRefused(400, "InvalidPart");
        if (i > 0 && named[i - 1]!.number >= number) throw new RequestRefused(400, "InvalidPartOrder");
        if (i < named.length - 1 && part.body.length < LEAST_PART) throw new RequestRefused(400, "EntityTooSmall");
        return part.body;
      });
      const whole = Buffer.concat(parts);
      objects.set(key, { body: whole, etag: etagOf(whole), modified: new Date(), metadata: upload.metadata });
      uploads.delete(id);
      return xml("CompleteMultipartUploadResult", `<ETag>${etagOf(whole)}</ETag>`);
    }
    if (method === "PUT") {
      objects.set(key, { body, etag: etagOf(body), modified: new Date(), metadata });
      return done(200, { etag: etagOf(body) });
    }
    if (method === "DELETE") {
      objects.delete(key);
      return done(204);
    }
    const found = objects.get(key);
    if (!found) throw new RequestRefused(404, "NoSuchKey");
    const match = req.headers["if-match"];
    if (match !== undefined && match !== found.etag) throw new RequestRefused(412, "PreconditionFailed");
    const headers = { etag: found.etag, "last-modified": found.modified.toUTCString(), ...found.metadata };
    const size = found.body.length;
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? [];
    if (first === undefined) return { status: 200, headers: { ...headers, "content-length": size }, body: found.body };
    const end = Math.min(last === "" ? size - 1 : Number(last), size - 1);
    if (Number(first) >= size) throw new RequestRefused(416, "InvalidRange");
    const part = found.body.subarray(Number(first), end + 1);
    const ranged = { "content-length": part.length, "content-range": `bytes ${first}-${end}/${size}` };
    return { status: 206, headers: { ...headers, ...ranged }, body: part };
  }

  const http = createServer((req, res) => {
    answer(req, res).catch((error: unknown) => res.destroy(error as Error));
  });
  await new Promise<void>((resolve) => http.listen(options.port ?? 0, "127.0.0.1", resolve));
  const server: S3Server = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    objects,
    uploads,
    asked,
    fault: () => undefined,
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}

type Reply = { status: number; headers: Record<string, string | number>; body: Buffer };
const done = (status: number, headers: Record<string, string> = {}): Reply => ({
  status,
  headers,
  body: Buffer.alloc(0),
});
const xml = (root: string, content: string): Reply => ({
  status: 200,
  headers: { "content-type": "application/xml" },
  body: Buffer.from(`<?xml version="1.0" encoding="UTF-8"?><${root}>${content}</${root}>`),
});

const etagOf = (body: Buffer): string => `"${createHash("md5").update(body).digest("hex")}"`;
const sha256 = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** AWS Signature Version 4, in the Authorization header; the body's digest has to be part of it. */
function verifySignature(req: IncomingMessage, url: URL, body: Buffer): void {
  const given = /^AWS4-HMAC-SHA256 Credential=([^,]+), *SignedHeaders=([^,]+), *Signature=([0-9a-f]{64})$/.exec(
    req.headers.authorization ?? "",
  );
  if (!given) throw new RequestRefused(403, "AccessDenied");
  const [accessKeyId, day, region, ...service] = given[1]!.split("/");
  if (accessKeyId !== ACCESS_KEY.accessKeyId) throw new RequestRefused(403, "InvalidAccessKeyId");
  if (service.join("/") !== "s3/aws4_request") throw new RequestRefused(400, "AuthorizationHeaderMalformed");
  const time = String(req.headers["x-amz-date"]);
  const digest = String(req.headers["x-amz-content-sha256"]);
  if (digest !== sha256(body)) throw new RequestRefused(400, "XAmzContentSHA256Mismatch");
  const names = given[2]!.split(";");
  if (!["host", "x-amz-content-sha256", "x-amz-date"].every((name) => names.includes(name)))
    throw new RequestRefused(403, "AccessDenied");
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const request = [
    req.method,
    url.pathname,
    [...url.searchParams]
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join("&"),
    ...names.map((name) => `${name}:${String(req.headers[name]).trim()}`),
    "",
    names.join(";"),
    digest,
  ].join("\n");
  const scope = [day, region, "s3", "aws4_request"];
  const key = scope.reduce<string | Buffer>((from, text) => hmac(from, text!), `AWS4${ACCESS_KEY.secretAccessKey}`);
  const wanted = hmac(key, ["AWS4-HMAC-SHA256", time, scope.join("/"), sha256(request)].join("\n")).toString("hex");
  if (wanted !== given[3]) throw new RequestRefused(403, "SignatureDoesNotMatch");
}
