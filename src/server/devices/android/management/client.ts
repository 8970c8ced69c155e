// A client of the Android Management API, version 1 (docs/protocols/android.md, Calls).

import { z } from "zod";
import type { Services } from "../../../platform/core/context.ts";
import { fetchVendor, OutboundError, type OutboundReply } from "../../../platform/core/outbound/fetch.ts";
import { jsonOf } from "../../../platform/core/outbound/reply.ts";
import { requireAccount, type ServiceAccount } from "./account.ts";
import { AndroidError, problemOf } from "./problem.ts";
import { accessToken, forgetToken } from "./token.ts";

const name = z.string().min(1).max(1024);
const SignUp = z.object({ name, url: z.url().max(4096) });
const Named = z.object({ name });
const EnrollmentToken = z.object({ value: z.string().min(1).max(4096), qrCode: z.string().max(16_384).default("") });
const Policy = z.object({ name, version: z.coerce.number().int().min(0) });
const Application = z.object({
  title: z.string().max(1024).catch("").default(""),
  iconUrl: z.url().max(4096).catch("").default(""),
  appVersions: z
    .array(
      z.object({ versionString: z.string().max(255).catch("").default(""), production: z.boolean().default(false) }),
    )
    .catch([])
    .default([]),
});
const Done = z.object({});
const Any = z.record(z.string(), z.unknown());

export type Json = Readonly<Record<string, unknown>>;

export interface NewEnrollmentToken {
  readonly policyName: string;
  /** Returned with each device that enrolls with the token. */
  readonly additionalData: string;
  readonly isPersonal: boolean;
  readonly seconds: number;
}

type Deps = Pick<Services, "running" | "dryRun" | "settings" | "clock">;
type Method = "GET" | "POST" | "PATCH" | "DELETE";

const SERVICE = "the Android Management API";
const TIMEOUT = 30_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** 400 that names the setting if there is no service account. */
export const androidClient = (services: Deps): AndroidClient => new AndroidClient(services, requireAccount(services));

interface CallInput {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
}

/** Names are those of the API, such as `enterprises/LC1/devices/2`. All calls may throw `AndroidError`. */
export class AndroidClient {
  readonly #services: Deps;
  readonly #account: ServiceAccount;
  readonly #base: string;

  constructor(services: Deps, account: ServiceAccount) {
    this.#services = services;
    this.#account = account;
    this.#base = services.settings.android_management_url.replace(/\/+$/, "");
  }

  get projectId(): string {
    return this.#account.projectId;
  }

  signUp(callbackUrl: string): Promise<z.output<typeof SignUp>> {
    return this.#call(SignUp, "POST", "signupUrls", { query: { projectId: this.projectId, callbackUrl } });
  }

  /** Returns the name of the enterprise. */
  async createEnterprise(signupUrlName: string, enterpriseToken: string, enterprise: Json): Promise<string> {
    const query = { projectId: this.projectId, signupUrlName, enterpriseToken };
    return (await this.#call(Named, "POST", "enterprises", { query, body: enterprise })).name;
  }

  async deleteEnterprise(name: string): Promise<void> {
    await this.#call(Done, "DELETE", name);
  }

  /** Returns the version that devices report once they have applied it. */
  async setPolicy(name: string, policy: Json): Promise<number> {
    return (await this.#call(Policy, "PATCH", name, { body: policy })).version;
  }

  async deletePolicy(name: string): Promise<void> {
    await this.#call(Done, "DELETE", name);
  }

  createToken(enterprise: string, token: NewEnrollmentToken): Promise<z.output<typeof EnrollmentToken>> {
    const { policyName, additionalData, isPersonal, seconds } = token;
    return this.#call(EnrollmentToken, "POST", `${enterprise}/enrollmentTokens`, {
      body: {
        policyName,
        additionalData,
        duration: `${seconds}s`,
        allowPersonalUsage: isPersonal ? "PERSONAL_USAGE_ALLOWED" : "PERSONAL_USAGE_DISALLOWED",
      },
    });
  }

  /** Returns the name of the app. */
  async createWebApp(enterprise: string, app: Json): Promise<string> {
    return (await this.#call(Named, "POST", `${enterprise}/webApps`, { body: app })).name;
  }

  /** What the store says of an app. */
  application(name: string): Promise<z.output<typeof Application>> {
    return this.#call(Application, "GET", name);
  }

  /** What the API knows of the device, in its own words. */
  device(name: string): Promise<Json> {
    return this.#call(Any, "GET", name);
  }

  async setPolicyOfDevice(name: string, policyName: string): Promise<void> {
    await this.#call(Done, "PATCH", name, { query: { updateMask: "policyName" }, body: { policyName } });
  }

  /** The device leaves; one without a work profile loses all its data. */
  async deleteDevice(name: string): Promise<void> {
    await this.#call(Done, "DELETE", name);
  }

  /** Returns the name of the operation. */
  async issueCommand(device: string, command: Json): Promise<string> {
    return (await this.#call(Named, "POST", `${device}:issueCommand`, { body: command })).name;
  }

  /** What became of a command, in the API's own words. */
  operation(name: string): Promise<Json> {
    return this.#call(Any, "GET", name);
  }

  async #call<T>(schema: z.ZodType<T>, method: Method, path: string, input: CallInput = {}): Promise<T> {
    const parameters = new URLSearchParams(input.query ?? {}).toString();
    const url = `${this.#base}/${path}${parameters && `?${parameters}`}`;
    for (let attempt = 1; ; attempt++) {
      const reply = await this.#send(url, method, input.body);
      if (reply.status === 401) forgetToken(this.#services, this.#account);
      if (reply.status === 401 && attempt === 1) continue;
      if (reply.status !== 200) throw problemOf(reply, SERVICE);
      const parsed = schema.safeParse(jsonOf(reply));
      if (!parsed.success) throw new AndroidError("unreachable", `the reply of ${SERVICE} is not valid`);
      return parsed.data;
    }
  }

  async #send(url: string, method: Method, body: Json | undefined): Promise<OutboundReply> {
    try {
      return await fetchVendor(this.#services, url, {
        method,
        headers: {
          authorization: `Bearer ${await accessToken(this.#services, this.#account)}`,
          ...(body && { "content-type": "application/json" }),
        },
        ...(body && { body: JSON.stringify(body) }),
        timeout: TIMEOUT,
        maxBytes: MAX_BYTES,
      });
    } catch (error) {
      if (error instanceof OutboundError) throw new AndroidError("unreachable", error.message);
      throw error;
    }
  }
}
