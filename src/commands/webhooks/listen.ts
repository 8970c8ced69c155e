import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import * as Flags from "@oclif/core/flags";
import { z } from "zod";
import { BaseCommand } from "../../cli/base-command.ts";
import { failed, usage } from "../../cli/errors.ts";
import { readSecret, secretFlags } from "../../cli/files/input.ts";
import { generalFlags, outputFlags } from "../../cli/flags.ts";
import { cell, durationMs } from "../../cli/output/text.ts";
import { checkSignature } from "../../cli/topics/webhooks/signature.ts";

const MOST_BYTES = 64 * 1024 * 1024;

const Got = z.object({
  at: z.string(),
  path: z.string(),
  message_id: z.string().nullable(),
  signature: z.enum(["valid", "invalid", "stale", "missing", "unchecked"]),
  again: z.boolean().meta({ description: "the same message was received before" }),
  body: z.unknown(),
});
type Got = z.infer<typeof Got>;

export default class WebhooksListen extends BaseCommand {
  static override summary = "Receive webhooks on this machine, print them, and check their signatures.";
  static override description =
    "For development. The server's setting outbound_allow must allow requests to this machine; configure http://HOST:PORT/ as the destination. Requests " +
    "with a wrong signature get status 401. The formats are table and ndjson; ndjson is the default if stdout is not a terminal.";
  static override baseFlags = { ...generalFlags, ...outputFlags };
  static override flags = {
    host: Flags.string({ summary: "Address to listen on.", default: "127.0.0.1" }),
    port: Flags.integer({ summary: "Port to listen on; 0 selects a free one.", default: 9000, min: 0, max: 65_535 }),
    ...secretFlags("secret", "the signing secret"),
    status: Flags.integer({ summary: "Reply with this status, to test retries.", default: 200, min: 200, max: 599 }),
    count: Flags.integer({ summary: "Exit after this number of requests.", min: 1 }),
    for: Flags.string({ summary: "Exit after this time, e.g. 10m.", helpValue: "TIME" }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --port 9000 --secret-stdin --for 10m < secret.txt"];

  async run() {
    const { flags } = await this.parse(WebhooksListen);
    const secret = await readSecret(this.io, flags, "secret", "SVC_WEBHOOK_SECRET");
    const time = flags.for === undefined ? null : durationMs(flags.for, "--for");
    const print = this.#printer();
    const seen = new Set<string>();
    const over = new AbortController();
    let count = 0;
    let printing = Promise.resolve();
    const server = createServer((request, reply) => {
      void (async () => {
        const body = await bodyOf(request);
        if (body === null) return void reply.writeHead(413).end();
        const got = this.#read(request, body, secret, seen);
        const isBad = got.signature === "invalid" || (secret !== undefined && got.signature === "missing");
        reply.writeHead(isBad ? 401 : flags.status, { "content-type": "text/plain" }).end();
        printing = printing.then(() => print(got));
        await printing;
        if (++count === flags.count) over.abort();
      })().catch(() => reply.destroy());
    });
    await new Promise<void>((listening, refused) => {
      server.once("error", (error) =>
        refused(failed(`cannot listen on ${flags.host}:${flags.port}: ${error.message}`)),
      );
      server.listen(flags.port, flags.host, listening);
    });
    const { port } = server.address() as AddressInfo;
    const host = flags.host.includes(":") ? `[${flags.host}]` : flags.host;
    this.note(`listening on http://${host}:${port}/${secret === undefined ? "; signatures are not checked" : ""}`);
    const ended = new Promise<void>((resolve) =>
      over.signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    await (time === null ? ended : Promise.race([ended, this.io.sleep(time, over.signal).catch(() => {})]));
    server.closeIdleConnections();
    await new Promise((closed) => {
      server.close(closed);
      setTimeout(() => server.closeAllConnections(), 500).unref();
    });
  }

  #read(request: IncomingMessage, body: Buffer, secret: string | undefined, seen: Set<string>): Got {
    const id = request.headers["webhook-id"];
    const messageId = typeof id === "string" ? id : null;
    const got: Got = {
      at: this.io.now().toISOString(),
      path: request.url ?? "/",
      message_id: messageId,
      signature: checkSignature(secret, request.headers, body, this.io.now()),
      again: messageId !== null && seen.has(messageId),
      body: parsed(body),
    };
    if (messageId !== null) seen.add(messageId);
    return got;
  }

  #printer(): (got: Got) => Promise<void> {
    const chosen = this.common.output ?? this.io.env.SVC_OUTPUT ?? "";
    if (this.common.json !== true && chosen === "" && !this.io.tty.stdout) this.common.output = "ndjson";
    if (this.format === "ndjson") return (got) => this.printList([got], { schema: () => Got, columns: [] });
    if (this.format !== "table" || this.common.fields !== undefined)
      throw usage(`requests cannot be printed as ${this.format}`, "Give -o ndjson.");
    const table = this.liveTable();
    return async (got) =>
      table.add([
        {
          when: got.at,
          message: `${got.message_id ?? "-"}${got.again ? " (again)" : ""}`,
          signature: got.signature,
          body: cell(got.body),
        },
      ]);
  }
}

/** Null if the body is too long. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > MOST_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function parsed(body: Buffer): unknown {
  const text = body.toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
