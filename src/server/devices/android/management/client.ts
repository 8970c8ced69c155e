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

/** Names are those of the API, such as `enterprises/LC1/devices/2`. All calls may throw `AndroidError`. */
export interface AndroidClient {
  readonly projectId: string;
  signUp(callbackUrl: string): Promise<{ name: string; url: string }>;
  /** Returns the name of the enterprise. */
  createEnterprise(signUpName: string, enterpriseToken: string, enterprise: Json): Promise<string>;
  deleteEnterprise(name: string): Promise<void>;
  /** Returns the version that devices report once they have applied it. */
  setPolicy(name: string, policy: Json): Promise<number>;
  deletePolicy(name: string): Promise<void>;
  createToken(enterprise: string, token: NewEnrollmentToken): Promise<z.output<typeof EnrollmentToken>>;
  /** Returns the name of the app. */
  createWebApp(enterprise: string, app: Json): Promise<string>;
  /** What the store says of an app. */
  application(name: string): Promise<z.output<typeof Application>>;
  /** What the API knows of the device, in its own words. */
  device(name: string): Promise<Json>;
  setPolicyOfDevice(name: string, policyName: string): Promise<void>;
  /** The device leaves; one without a work profile loses all its data. */
  deleteDevice(name: string): Promise<void>;
  /** Returns the name of the operation. */
  issueCommand(device: string, command: Json): Promise<string>;
  /** What became of a command, in the API's own words. */
  operation(name: string): Promise<Json>;
}

type Deps = Pick<Services, "running" | "dryRun" | "settings" | "clock">;
type Method = "GET" | "POST" | "PATCH" | "DELETE";

const SERVICE = "the Android Management API";
const TIMEOUT = 30_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** 400 that names the setting if there is no service account. */
export const androidClient = (services: Deps): AndroidClient => clientOf(services, requireAccount(services));

function clientOf(services: Deps, account: ServiceAccount): AndroidClient {
  const base = services.settings.android_management_url.replace(/\/+$/, "");

  async function call<T>(
    schema: z.ZodType<T>,
    method: Method,
    path: string,
    { query = {}, body }: { query?: Record<string, string>; body?: Json } = {},
  ): Promise<T> {
    const parameters = new URLSearchParams(query).toString();
    const url = `${base}/${path}${parameters && `?${parameters}`}`;
    for (let attempt = 1; ; attempt++) {
      const reply = await send(url, method, body);
      if (reply.status === 401) forgetToken(services, account);
      if (reply.status === 401 && attempt === 1) continue;
      if (reply.status !== 200) throw problemOf(reply, SERVICE);
      const parsed = schema.safeParse(jsonOf(reply));
      if (!parsed.success) throw new AndroidError("unreachable", `the reply of ${SERVICE} is not valid`);
      return parsed.data;
    }
  }

  async function send(url: string, method: Method, body: Json | undefined): Promise<OutboundReply> {
    try {
      return await fetchVendor(services, url, {
        method,
        headers: {
          authorization: `Bearer ${await accessToken(services, account)}`,
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

  return {
    projectId: account.projectId,
    signUp: (callbackUrl) =>
      call(SignUp, "POST", "signupUrls", { query: { projectId: account.projectId, callbackUrl } }),
    async createEnterprise(signupUrlName, enterpriseToken, body) {
      const query = { projectId: account.projectId, signupUrlName, enterpriseToken };
      return (await call(Named, "POST", "enterprises", { query, body })).name;
    },
    deleteEnterprise: async (name) => void (await call(Done, "DELETE", name)),
    setPolicy: async (name, body) => (await call(Policy, "PATCH", name, { body })).version,
    deletePolicy: async (name) => void (await call(Done, "DELETE", name)),
    createToken: (enterprise, { policyName, additionalData, isPersonal, seconds }) =>
      call(EnrollmentToken, "POST", `${enterprise}/enrollmentTokens`, {
        body: {
          policyName,
          additionalData,
          duration: `${seconds}s`,
          allowPersonalUsage: isPersonal ? "PERSONAL_USAGE_ALLOWED" : "PERSONAL_USAGE_DISALLOWED",
        },
      }),
    createWebApp: async (enterprise, body) => (await call(Named, "POST", `${enterprise}/webApps`, { body })).name,
    application: (name) => call(Application, "GET", name),
    device: (name) => call(Any, "GET", name),
    setPolicyOfDevice: async (name, policyName) =>
      void (await call(Done, "PATCH", name, { query: { updateMask: "policyName" }, body: { policyName } })),
    deleteDevice: async (name) => void (await call(Done, "DELETE", name)),
    issueCommand: async (device, body) => (await call(Named, "POST", `${device}:issueCommand`, { body })).name,
    operation: (name) => call(Any, "GET", name),
  };
}
