// Enrollment of query engines (docs/protocols/agent.md, Enrollment). See enrollment/README.md.
import { hardwareUuid, serialNumber } from "../../../../agent-wire/firmware.ts";
import { withoutInvisible } from "../../../../agent-wire/invisible.ts";
import type { Hardware, Refusal } from "../../../hosts/enrollment/kind.ts";
import { checkEnrollSecret, secretChecksIdle } from "../../../hosts/enrollment/secret-check.ts";
import { createHostEnrollment, type HostEnrollment } from "../../../hosts/enrollment/service.ts";
import { IDENTIFIER_MAX } from "../../../hosts/hosts/identifier.ts";
import { type AgentRow, rowsOf, text } from "../../../platform/agent-protocol/rows.ts";
import { type AgentReply, failure, nodeInvalid } from "../../../platform/agent-protocol/wire.ts";
import type { Services } from "../../../platform/core/context.ts";
import type { Caller } from "../../../platform/core/http/proxies.ts";
import { platformOfMask } from "../../../platform/core/platforms.ts";
import { tokenHash } from "../../../platform/core/random.ts";
import type { Settings } from "../../../platform/core/settings/settings.ts";
import { cleanText } from "../../../platform/store/rows.ts";
import type { ConfigCache } from "../config/cache.ts";
import type { HostCache } from "../hosts/cache.ts";
import { type EngineRequest, QueryEngine } from "./query-engine.ts";

/** Macs may be known to device management under other names than the agent's. */
function appleHardware({ host_details: hostDetails, platform_type: mask }: Record<string, unknown>): {
  hardware?: Hardware;
} {
  const details = rowsOf([hostDetails])[0] ?? {};
  const [os = {}] = rowsOf([details.os_version]);
  const [system = {}] = rowsOf([details.system_info]);
  if ((text(os, "platform") || platformOfMask(mask)) !== "darwin") return {};
  return {
    hardware: { uuid: hardwareUuid(text(system, "uuid")), serial: serialNumber(text(system, "hardware_serial")) },
  };
}

const refusal = (reason: string): AgentReply => nodeInvalid(`enroll failed: ${reason}`);
const KEY_BYTES = 32;

interface Caches {
  readonly hosts: HostCache;
  readonly configs: ConfigCache;
}

export class Enrollment {
  readonly #services: Services;
  readonly #cache: HostCache;
  readonly #hosts: HostEnrollment<EngineRequest>;

  constructor(services: Services, { hosts, configs }: Caches) {
    this.#services = services;
    this.#cache = hosts;
    this.#hosts = createHostEnrollment(services, new QueryEngine(services, configs));
  }

  async enroll(body: Record<string, unknown>, caller: Caller, since: number): Promise<AgentReply> {
    const check = await checkEnrollSecret(this.#services, body.enroll_secret, caller);
    if ("wait" in check) {
      const { wait } = check;
      if (wait > 0) return failure(429, `enroll failed: too many bad enroll secrets, retry after: ${wait}s`, wait);
      return refusal("invalid enroll secret");
    }
    const identifier = identifierIn(body, this.#services.settings);
    if (identifier === "") return refusal("missing osquery host identifier");
    if (identifier.length > IDENTIFIER_MAX)
      return refusal(`the host identifier is longer than ${IDENTIFIER_MAX} characters`);
    const key = this.#services.random.token(KEY_BYTES);
    const request = {
      identifier,
      ...appleHardware(body),
      teamId: check.teamId,
      secretHash: check.secretHash,
      isProved: false,
      address: caller.address,
      keyHash: tokenHash(key),
      details: body.host_details,
      platformType: body.platform_type,
    };
    const outcome = await this.#hosts.enroll(request, since);
    if ("refused" in outcome) return refusalOf(outcome);
    this.#cache.put(outcome.row, key);
    return { status: 200, body: JSON.stringify({ node_key: key }) };
  }

  async stop(): Promise<void> {
    await secretChecksIdle(this.#services);
    await this.#hosts.idle();
  }
}

function refusalOf({ refused, reason, wait }: Refusal): AgentReply {
  if (refused === "new hosts") return failure(429, `enroll host failed: ${reason}, retry after: ${wait}s`, wait);
  // The wording of the protocol.
  const start = refused === "device limit" ? "enroll host failed: " : "";
  return refusal(`${start}${reason}`);
}

function identifierIn(body: Record<string, unknown>, { host_identifier }: Pick<Settings, "host_identifier">): string {
  const table = { provided: null, uuid: "osquery_info", instance: "osquery_info", hostname: "system_info" } as const;
  const column = { provided: "", uuid: "uuid", instance: "instance_id", hostname: "hostname" } as const;
  // Our agent on a machine that shares its hardware UUID with another one.
  const kind = body.is_separate === true ? "provided" : host_identifier;
  const name = table[kind];
  const details = rowsOf([body.host_details])[0];
  const row = name === null ? undefined : rowsOf([details?.[name]])[0];
  const provided = typeof body.host_identifier === "string" ? withoutInvisible(cleanText(body.host_identifier)) : "";
  // Not truncated, since two hosts may share a prefix.
  const whole = (cells: AgentRow | undefined, name: string) =>
    cells ? withoutInvisible(text(cells, name, Number.POSITIVE_INFINITY)).trim() : "";
  if (kind !== "uuid") return whole(row, column[kind]) || provided.trim();
  // Boards without a UUID of their own have the same one.
  return hardwareUuid(whole(row, "uuid")) || hardwareUuid(provided) || whole(row, "instance_id");
}
