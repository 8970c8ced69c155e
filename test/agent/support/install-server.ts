// A small server on loopback that speaks the managed agent's protocol for installs.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Offer {
  installer_sha256?: string;
  pre_install_condition?: string;
  install_script?: string;
  post_install_script?: string;
  uninstall_script?: string;
}

const PREFIX = "/api/v1/svc/agent";

export class InstallStandIn {
  readonly offers = new Map<string, Offer>();
  readonly results: Record<string, unknown>[] = [];
  /** The Range header of each request for the package; empty without one. */
  readonly ranges: string[] = [];
  /** Sent without a key, by path. */
  readonly files = new Map<string, string | Buffer>();
  enrollments = 0;
  content = Buffer.from("the package");
  fileName = "tool_1.0_all.deb";
  /** Replaces the digest that is sent. */
  digest: string | null = null;
  /** Cuts the connection after so many bytes of each package. */
  cutAfter = Number.POSITIVE_INFINITY;
  /** Status with which packages are refused. */
  packageStatus = 200;
  #keys = new Set<string>();
  readonly #server = createServer((request, reply) => void this.#answer(request, reply));

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Leaves the server like one whose host was deleted. */
  forgetKeys(): void {
    this.#keys.clear();
  }

  async #answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    let text = "";
    for await (const part of request) text += part;
    const body = JSON.parse(text || "{}") as Record<string, string>;
    const send = (status: number, value: object | null) => {
      reply.writeHead(status, { "content-type": "application/json" }).end(value === null ? "" : JSON.stringify(value));
    };
    const file = this.files.get(request.url!);
    if (file !== undefined) return void reply.end(file);
    const path = request.url!.slice(PREFIX.length);
    if (path === "/enroll") {
      const key = `key-${++this.enrollments}`;
      this.#keys.add(key);
      return send(200, { agent_node_key: key });
    }
    if (!this.#keys.has(body.agent_node_key ?? "")) return send(401, { message: "unknown key" });
    const id = body.install_uuid ?? "";
    if (path === "/config")
      return send(200, { notifications: { pending_software_installer_ids: [...this.offers.keys()] } });
    if (path === "/software_install/details") {
      const offer = this.offers.get(id);
      if (offer === undefined) return send(404, { message: "Resource Not Found" });
      return send(200, { install_id: id, installer_id: 7, self_service: false, ...offer });
    }
    if (path === "/software_install/result") {
      this.results.push(body);
      this.offers.delete(id);
      return send(204, null);
    }
    if (path === "/software_install/package?alt=media") return this.#package(request, reply);
    return send(200, {});
  }

  #package(request: IncomingMessage, reply: ServerResponse): void {
    const { content } = this;
    this.ranges.push(request.headers.range ?? "");
    if (this.packageStatus !== 200) {
      reply.writeHead(this.packageStatus).end(JSON.stringify({ message: "refused" }));
      return;
    }
    const digest = createHash("sha256").update(content).digest("hex");
    const isSame = request.headers["if-range"] === `"${digest}"`;
    const start = isSame ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0) : 0;
    const sent = content.subarray(start);
    reply.writeHead(start > 0 ? 206 : 200, {
      "content-length": sent.length,
      "content-disposition": `attachment; filename="${this.fileName}"`,
      etag: `"${digest}"`,
      "repr-digest": `sha-256=:${Buffer.from(this.digest ?? digest, "hex").toString("base64")}:`,
      ...(start > 0 ? { "content-range": `bytes ${start}-${content.length - 1}/${content.length}` } : {}),
    });
    if (sent.length <= this.cutAfter) reply.end(sent);
    else reply.write(sent.subarray(0, this.cutAfter), () => reply.destroy());
  }
}
