// The agent's app of a simulated Android device: its managed configuration lists certificate templates. It enrolls as the
// device's host, reads each template, gets the certificate by SCEP through the server's proxy, and reports the result.

import { X509Certificate } from "node:crypto";
import { parseAlternativeNames } from "../../pki/alternative-names.ts";
import { parseName } from "../../pki/names.ts";
import { messageOf } from "../../text/error-message.ts";
import { Authorities, requestIdentity } from "../scep.ts";
import { PATHS } from "../stats.ts";
import type { WebReply, WebRequest } from "../web.ts";
import type { AndroidRequest } from "./stats.ts";
import type { DeviceWorld } from "./world.ts";

type Json = Readonly<Record<string, unknown>>;

interface Configuration {
  readonly host_uuid: string;
  readonly enroll_secret: string;
  readonly certificate_templates: readonly { readonly id: number; readonly updated_at: string }[];
}

/** What the agent's app gets with a policy; null: the policy has no such app. */
function configurationIn(policy: Json): Configuration | null {
  const apps: unknown[] = Array.isArray(policy.applications) ? policy.applications : [];
  for (const app of apps as { readonly managedConfiguration?: Partial<Configuration> }[]) {
    const { host_uuid, enroll_secret, certificate_templates } = app.managedConfiguration ?? {};
    if (host_uuid !== undefined && enroll_secret !== undefined && certificate_templates !== undefined)
      return { host_uuid, enroll_secret, certificate_templates };
  }
  return null;
}

interface Template {
  readonly name: string;
  readonly certificate_authority_name: string;
  readonly subject_name: string;
  readonly subject_alternative_name: string;
  readonly scep_challenge: string | null;
  readonly svc_challenge: string | null;
}

export class AgentApp {
  readonly #world: DeviceWorld;
  readonly #fails: () => boolean;
  #key = "";
  /** The time of the template, by its id, of what was installed or has failed. */
  readonly #done = new Map<number, string>();
  #last: Promise<void> = Promise.resolve();

  /** `fails`: whether the next certificate cannot be installed. */
  constructor(world: DeviceWorld, fails: () => boolean) {
    this.#world = world;
    this.#fails = fails;
  }

  /** Resolves when all templates of this policy were tried. What got no reply is tried with the next policy. */
  configured(policy: Json): Promise<void> {
    const configuration = configurationIn(policy);
    if (configuration !== null) this.#last = this.#last.then(() => this.#installAll(configuration));
    return this.#last;
  }

  async #installAll(configuration: Configuration): Promise<void> {
    const templates = configuration.certificate_templates;
    for (const id of this.#done.keys()) if (templates.every((template) => template.id !== id)) this.#done.delete(id);
    for (const { id, updated_at } of templates) {
      if (this.#done.get(id) === updated_at || this.#world.work.stopping) continue;
      try {
        if (this.#key === "") this.#key = await this.#enroll(configuration);
        await this.#install(configuration.host_uuid, id);
        this.#done.set(id, updated_at);
      } catch {
        // Counted where it happened.
      }
    }
  }

  async #enroll({ enroll_secret, host_uuid: hardware_uuid }: Configuration): Promise<string> {
    const body = { enroll_secret, hardware_uuid, platform: "android" };
    const reply = await this.#call("agent enrollment", "POST", PATHS.managed_enroll, body);
    const { agent_node_key: key } = JSON.parse(reply.body.toString("utf8")) as { agent_node_key?: unknown };
    if (typeof key !== "string") throw new Error("the reply has no agent_node_key");
    return key;
  }

  async #install(hostUuid: string, id: number): Promise<void> {
    const path = `/api/svcd/certificates/${id}`;
    const reply = await this.#call("certificate template", "GET", path);
    const { certificate: template } = JSON.parse(reply.body.toString("utf8")) as { certificate: Template };
    // Without a challenge, there is nothing to install.
    if (template.svc_challenge === null) return;
    const { stats } = this.#world;
    const result = await this.#request(hostUuid, id, template).catch(
      (error: unknown): Json => ({ status: "failed", detail: messageOf(error) }),
    );
    await this.#call("certificate status", "PUT", `${path}/status`, result);
    stats[result.status === "verified" ? "installed" : "notInstalled"]++;
  }

  /** What is reported of the certificate. Throws if there is none. */
  async #request(hostUuid: string, id: number, template: Template): Promise<Json> {
    const { web, stats, serverUrl, newKey } = this.#world;
    const { certificate_authority_name: authority, scep_challenge, svc_challenge } = template;
    if (this.#fails()) throw new Error("the device has no screen lock");
    const identifier = [hostUuid, `g${id}`, authority, svc_challenge].join(",");
    const scep = {
      url: `${serverUrl}/mdm/scep/proxy/${encodeURIComponent(identifier)}`,
      name: "",
      challenge: scep_challenge ?? "",
      subject: parseName(template.subject_name),
      alternativeNames: parseAlternativeNames(template.subject_alternative_name),
      fingerprint: null,
    };
    const { certificate } = await stats.timed("SCEP", async () =>
      requestIdentity(web, new Authorities(web), scep, await newKey()),
    );
    const { serialNumber: serial, validFrom, validTo } = new X509Certificate(certificate);
    const [not_valid_before, not_valid_after] = [validFrom, validTo].map((time) => new Date(time).toISOString());
    return { status: "verified", serial, not_valid_before, not_valid_after };
  }

  #call(name: AndroidRequest, method: WebRequest["method"], path: string, body?: Json): Promise<WebReply> {
    const { web, stats, serverUrl } = this.#world;
    return stats.timed(name, async () => {
      const reply = await web.call({
        method,
        url: `${serverUrl}${path}`,
        headers: {
          ...(this.#key === "" ? {} : { authorization: `Node key ${this.#key}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
      });
      if (reply.status !== 200) throw new Error(`status ${reply.status}: ${reply.body.toString("utf8", 0, 160)}`);
      return reply;
    });
  }
}
