// Reads multipart bodies (RFC 7578). Files are passed on while they arrive; memory does not depend on their size.

import { Readable } from "node:stream";
import { Busboy, type BusboyHeaders, type BusboyInstance } from "@fastify/busboy";
import { z } from "zod";
import { FIELDS_LIMIT, type FilePart, fileNameOf, type Multipart, type StoredFile } from "../../../../../api/bodies.ts";
import type { AnyEndpoint } from "../../../../../api/endpoint.ts";
import { uploadIn } from "../../../../../api/platform/upload-text.ts";
import { badRequest, partTooLarge, unsupportedMediaType } from "../../errors.ts";
import type { ByteSource } from "../body.ts";
import { type BodySource, noRoom } from "../body.ts";
import type { Claim } from "../body-room.ts";
import type { CheckTexts } from "../route.ts";
import { paced, upTo } from "./paced.ts";

export interface SentBody {
  readonly headers: { get(name: string): string | null; has(name: string): boolean };
  readonly body: ByteSource | null;
}

/** Where the files of a body come to. */
export interface FilePlace {
  /** Stores the content of a file completely, or throws. */
  store(content: AsyncIterable<Uint8Array>, limit: number): Promise<Omit<StoredFile, "name" | "type">>;
  /** The file of an upload session, which the body refers to. Throws if the caller has no such session. */
  uploaded(id: number): Promise<UploadedFile>;
}

export interface UploadedFile extends Omit<StoredFile, "type"> {
  open(): Promise<AsyncIterable<Uint8Array>>;
}

const MAX_PARTS = 1_000;
const limits = { parts: MAX_PARTS, fieldSize: FIELDS_LIMIT, headerPairs: 16, headerSize: 8 * 1024 };
/** Encodings of the parts themselves. RFC 7578, 4.7 deprecates all others. */
const IDENTITY = ["7bit", "8bit", "binary"];

export async function readMultipart(
  sent: SentBody,
  { body }: Pick<AnyEndpoint, "body">,
  { files }: Multipart,
  from: BodySource,
  place: FilePlace,
  checkTexts: CheckTexts,
): Promise<Record<string, unknown>> {
  const parser = parserOf(sent, files);
  const claim = from.room.claim(from.sender, () => {});
  // Received at once for the claim: the bytes of files do not stay in memory, and `paced` watches the sender, who must
  // not be cut off for either.
  claim.received();
  const form = new Form((body as z.ZodObject).shape, files, claim, place, checkTexts);
  try {
    return await form.read(parser, sent);
  } finally {
    claim.release();
  }
}

function parserOf({ headers }: SentBody, files: Multipart["files"]): BusboyInstance {
  const type = headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\s*(;|$)/i.test(type))
    throw unsupportedMediaType("Content-Type must be multipart/form-data");
  const coding = headers.get("content-encoding") ?? "identity";
  if (coding !== "identity") throw unsupportedMediaType("multipart bodies cannot have a Content-Encoding");
  try {
    return new Busboy({
      headers: { "content-type": type } as BusboyHeaders,
      limits,
      isPartAFile: (name, _type, fileName) =>
        fileName !== undefined || (name !== undefined && Object.hasOwn(files, name)),
    });
  } catch {
    throw badRequest("the boundary is missing in Content-Type", "Content-Type");
  }
}

/** What the part's headers contain. */
interface SentPart {
  readonly name: string | undefined;
  readonly type: string;
}

/** One body while it is read. */
class Form {
  readonly #shape: Readonly<Record<string, z.ZodType>>;
  readonly #files: Multipart["files"];
  readonly #claim: Claim;
  readonly #place: FilePlace;
  readonly #checkTexts: CheckTexts;
  readonly #values = new Map<string, unknown[]>();
  readonly #open = new Set<Readable>();
  readonly #tasks: Promise<void>[] = [];
  #failure: { readonly error: unknown } | null = null;
  /** Ends the current wait. Not a promise of the whole body, which would keep a reaction for each chunk. */
  #wake = () => {};

  constructor(
    shape: Record<string, z.ZodType>,
    files: Multipart["files"],
    claim: Claim,
    place: FilePlace,
    checkTexts: CheckTexts,
  ) {
    this.#shape = shape;
    this.#files = files;
    this.#claim = claim;
    this.#place = place;
    this.#checkTexts = checkTexts;
  }

  async read(parser: BusboyInstance, { body }: SentBody): Promise<Record<string, unknown>> {
    parser.on("field", (name, value, _, isCut) => this.#attempt(() => this.#field(name, value, isCut)));
    parser.on("file", (name, content, fileName, encoding, type) =>
      this.#attempt(() => this.#file(name, content, { name: fileName, type }, encoding)),
    );
    parser.on("partsLimit", () => this.#fail(badRequest(`the body has more than ${MAX_PARTS} parts`)));
    parser.on("error", () => this.#fail(badRequest("multipart decoder error: the body is incomplete or malformed")));
    const finished = new Promise<void>((resolve) => parser.once("finish", resolve));
    try {
      await this.#feed(parser, body);
      await this.#unlessFailed((done) => void finished.then(done));
    } catch (error) {
      this.#fail(error);
    }
    // What was stored is known only after all have ended.
    await Promise.all(this.#tasks);
    if (this.#failure !== null) throw this.#failure.error;
    for (const [name, { isRequired }] of Object.entries(this.#files))
      if (isRequired && !this.#values.has(name)) throw badRequest(`${name} is required`, name);
    return this.#result();
  }

  async #feed(parser: BusboyInstance, body: SentBody["body"]): Promise<void> {
    for await (const chunk of paced(body ?? nothing())) {
      await this.#unlessFailed((done) => parser.write(chunk, () => done()));
      if (this.#failure !== null) return;
    }
    parser.end();
  }

  #unlessFailed(work: (done: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#failure === null) work(resolve);
      else resolve();
    });
  }

  #fail(error: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = { error };
    this.#wake();
    for (const content of this.#open) content.destroy(error instanceof Error ? error : new Error("the body failed"));
  }

  #attempt(work: () => void): void {
    if (this.#failure !== null) return;
    try {
      work();
    } catch (error) {
      this.#fail(error);
    }
  }

  #field(name: string | undefined, value: string, isCut: boolean): void {
    const schema = this.#typeOfPart(name);
    if (isCut) throw partTooLarge(name!, FIELDS_LIMIT);
    if (this.#values.has(name!) && !isList(schema)) throw badRequest(`${name} was sent more than once`, name);
    this.#reserve(value.length);
    this.#add(name!, value);
  }

  #file(name: string | undefined, content: Readable, sent: SentPart, encoding: string): void {
    // Without a listener, an error of the stream would end the process.
    content.on("error", () => {});
    this.#typeOfPart(name);
    const part = this.#files[name!];
    if (part === undefined) throw badRequest(`${name} is a text, not a file`, name);
    if (!IDENTITY.includes(encoding)) throw badRequest(`${name} has an unknown Content-Transfer-Encoding`, name);
    if (this.#values.has(name!)) throw badRequest(`${name} was sent more than once`, name);
    this.#checkTexts(this.#result());
    const at = this.#add(name!, null);
    this.#open.add(content);
    const task = this.#take(name!, part, content, sent).then((taken) => {
      this.#values.get(name!)![at] = taken;
    });
    this.#tasks.push(task.catch((error: unknown) => this.#fail(error)).finally(() => this.#open.delete(content)));
  }

  async #take(name: string, part: FilePart, content: Readable, { name: fileName, type }: SentPart): Promise<object> {
    const { text, bytes } = fileName === undefined ? await shortText(content) : { text: null, bytes: content };
    const upload = text === null ? null : uploadIn(text);
    if (upload !== null) return this.#uploaded(name, part, upload);
    const bounded = upTo(bytes, part.limit, () => partTooLarge(name, part.limit));
    const sent = { name: fileNameOf(fileName ?? ""), type };
    if (part.isStored) return { ...sent, ...(await this.#place.store(bounded, part.limit)) };
    return { ...sent, bytes: await this.#collect(bounded) };
  }

  async #uploaded(field: string, { limit, isStored }: FilePart, upload: number): Promise<object> {
    const { open, ...file } = await this.#place.uploaded(upload);
    if (file.size > limit) throw partTooLarge(field, limit);
    const type = "application/octet-stream";
    return isStored ? { ...file, type } : { name: file.name, type, bytes: await this.#collect(await open()) };
  }

  async #collect(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) {
      this.#reserve(chunk.byteLength);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  #reserve(bytes: number): void {
    if (!this.#claim.add(bytes)) throw noRoom();
  }

  /** Returns the position of the value among those with the same name. */
  #add(name: string, value: unknown): number {
    const values = this.#values.get(name) ?? [];
    this.#values.set(name, values);
    return values.push(value) - 1;
  }

  #typeOfPart(name: string | undefined): z.ZodType {
    if (name !== undefined && Object.hasOwn(this.#shape, name)) return this.#shape[name]!;
    throw badRequest(`unsupported part provided: ${JSON.stringify((name ?? "").slice(0, 100))}`, name?.slice(0, 100));
  }

  #result(): Record<string, unknown> {
    return Object.fromEntries(
      [...this.#values].map(([name, values]) => [name, isList(this.#shape[name]!) ? values : values[0]]),
    );
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** Longer texts do not refer to an upload. */
const SHORT = 32;

/** The content as a text if it is short, and its bytes. */
async function shortText(content: Readable): Promise<{ text: string | null; bytes: AsyncIterable<Uint8Array> }> {
  const chunks: AsyncIterator<Buffer> = content[Symbol.asyncIterator]();
  const read: Buffer[] = [];
  for (let size = 0; size <= SHORT; size += read.at(-1)!.length) {
    const { done, value } = await chunks.next();
    if (done) return { text: Buffer.concat(read).toString("latin1"), bytes: Readable.from(read) };
    read.push(value);
  }
  const all = async function* () {
    yield* read;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  };
  return { text: null, bytes: all() };
}

const isList = (schema: z.ZodType): boolean => {
  const { def } = schema;
  return schema instanceof z.ZodArray || ("innerType" in def && isList(def.innerType as z.ZodType));
};
