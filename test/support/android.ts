// A stand-in for the Android Management API, the token service and the topic's signatures, made from their public
// documentation. Devices are driven by the test.
import { generateKeyPairSync, type KeyObject, type KeyPairKeyObjectResult, randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { exportJWK, jwtVerify, SignJWT } from "jose";
import { expect } from "vitest";
import { androidAgents } from "../../src/server/devices/android/policies/agent-app.ts";
import { androidPolicySender } from "../../src/server/devices/android/policies/sender.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import type { TestApp } from "./app.ts";
import { type Fake, newDir, type Reply, type Request, startFake } from "./ca-fakes.ts";

const EMAIL = "svc@example-project.iam.gserviceaccount.com";
export const PUBSUB_TOKEN = "a-secret-of-the-push-address";
export const ENTERPRISE = "enterprises/LC0test";
const PUBSUB = "/api/v1/svc/android_enterprise/pubsub";

export interface AndroidPolicy {
  version: number;
  content: Record<string, unknown>;
}

export interface AndroidDeviceData extends Record<string, unknown> {
  readonly name: string;
}

export interface AndroidService extends Fake {
  /** Settings of a server that uses the stand-in. */
  readonly settings: Record<string, string>;
  readonly enterprises: Map<string, Record<string, unknown>>;
  readonly policies: Map<string, AndroidPolicy>;
  /** The policy that each device was given. */
  readonly policyOf: Map<string, string>;
  readonly devices: Map<string, AndroidDeviceData>;
  readonly commands: { device: string; command: Record<string, unknown>; operation: string }[];
  /** What GET of a command's operation answers. */
  readonly operations: Map<string, Record<string, unknown>>;
  readonly deleted: string[];
  readonly webApps: Record<string, unknown>[];
  /** What the store says of apps, by the names of their packages. */
  readonly apps: Map<string, Record<string, unknown>>;
  /** The note of the newest enrollment token. */
  note: string;
  tokens: number;
  /** The time of the vendor. */
  now: () => Date;
  /** A reply instead of that of the stand-in. */
  fault: (request: Request) => Reply | null;
  /** The JWT of a push message. */
  jwt(more?: {
    audience?: string;
    email?: string;
    key?: KeyObject;
    issuer?: string;
    expires?: number;
  }): Promise<string>;
  /** Sends a message of the topic. */
  send(t: TestApp, type: string, data: unknown, more?: Sending): Promise<Response>;
  /** What a device looks like that has enrolled with the newest token. */
  device(id: string, more?: Record<string, unknown>): AndroidDeviceData;
}

interface Sending {
  readonly messageId?: string;
  readonly token?: string;
  readonly jwt?: string;
}

/** Made once, because each takes as long as a whole test. */
let keys: { account: KeyPairKeyObjectResult; signer: KeyPairKeyObjectResult } | undefined;
const newPair = () => generateKeyPairSync("rsa", { modulusLength: 2048 });

export async function startAndroid(): Promise<AndroidService> {
  keys ??= { account: newPair(), signer: newPair() };
  const { account, signer } = keys;
  const access = new Set<string>();
  const json = (status: number, body: unknown): Reply => ({
    status,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const failure = (code: number, status: string, message: string) => json(code, { error: { code, status, message } });

  async function tokenFor({ body }: Request): Promise<Reply> {
    const form = new URLSearchParams(body.toString());
    if (form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:jwt-bearer")
      return failure(400, "INVALID_ARGUMENT", "grant_type");
    await jwtVerify(form.get("assertion") ?? "", account.publicKey, {
      issuer: EMAIL,
      audience: `${fake.url}/token`,
      algorithms: ["RS256"],
      currentDate: service.now(),
    });
    const text = randomUUID();
    access.add(text);
    service.tokens++;
    return json(200, { access_token: text, expires_in: 3599, token_type: "Bearer" });
  }

  async function answer(request: Request): Promise<Reply> {
    const { method, url, headers, body } = request;
    const fault = service.fault(request);
    if (fault !== null) return fault;
    if (url.pathname === "/token") return tokenFor(request);
    if (url.pathname === "/keys")
      return json(200, { keys: [{ ...(await exportJWK(signer.publicKey)), kid: "k1", alg: "RS256", use: "sig" }] });
    if (!access.has(/^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? ""))
      return failure(401, "UNAUTHENTICATED", "no valid token");
    const path = url.pathname.replace(/^\/v1\//, "");
    const given = body.length > 0 ? (JSON.parse(body.toString()) as Record<string, unknown>) : {};
    if (method === "POST" && path === "signupUrls")
      return json(200, { name: "signupUrls/C1", url: `https://enterprise.google.example/signup?${url.searchParams}` });
    if (method === "POST" && path === "enterprises") {
      if (
        url.searchParams.get("signupUrlName") !== "signupUrls/C1" ||
        url.searchParams.get("enterpriseToken") !== "ET1"
      )
        return failure(400, "INVALID_ARGUMENT", "enterpriseToken is not valid");
      service.enterprises.set(ENTERPRISE, given);
      return json(200, { ...given, name: ENTERPRISE });
    }
    const enterprise = /^(enterprises\/[^/]+)/.exec(path)?.[1] ?? "";
    if (!service.enterprises.has(enterprise)) return failure(404, "NOT_FOUND", "no such enterprise");
    if (method === "DELETE" && path === enterprise) {
      service.enterprises.delete(enterprise);
      return json(200, {});
    }
    if (method === "PATCH" && path.includes("/policies/")) {
      const unknown = Object.keys(given).find((name) => name.startsWith("unknown"));
      if (unknown) return failure(400, "INVALID_ARGUMENT", `Invalid JSON payload: Unknown name "${unknown}"`);
      const version = (service.policies.get(path)?.version ?? 0) + 1;
      service.policies.set(path, { version, content: given });
      return json(200, { ...given, name: path, version: String(version) });
    }
    if (method === "GET" && path.startsWith(`${enterprise}/applications/`)) {
      const app = service.apps.get(path.split("/").at(-1)!);
      return app ? json(200, { ...app, name: path }) : failure(404, "NOT_FOUND", "Requested entity was not found.");
    }
    if (method === "POST" && path === `${enterprise}/webApps`) {
      if (String(given.startUrl).includes("refused")) return failure(400, "INVALID_ARGUMENT", "Invalid start URL");
      service.webApps.push(given);
      return json(200, { ...given, name: `${path}/com.google.enterprise.webapp.x${service.webApps.length}` });
    }
    if (method === "POST" && path === `${enterprise}/enrollmentTokens`) {
      service.note = String(given.additionalData);
      return json(200, { ...given, name: `${path}/T1`, value: "TOKENVALUE", qrCode: '{"qr":"TOKENVALUE"}' });
    }
    if (method === "GET" && path.includes("/operations/")) {
      const found = service.operations.get(path);
      return found ? json(200, found) : failure(404, "NOT_FOUND", "no such operation");
    }
    const [, device, verb] = /^(enterprises\/[^/]+\/devices\/[^/:]+)(?::(\w+))?$/.exec(path) ?? [];
    const known = device === undefined ? undefined : service.devices.get(device);
    if (device === undefined || known === undefined) return failure(404, "NOT_FOUND", "no such device");
    if (method === "GET") return json(200, known);
    if (method === "PATCH") {
      service.policyOf.set(device, String(given.policyName));
      return json(200, known);
    }
    if (method === "DELETE") {
      service.devices.delete(device);
      service.deleted.push(device);
      return json(200, {});
    }
    if (verb === "issueCommand") {
      const operation = `${device}/operations/${service.commands.length + 1}`;
      if (String(given.type).startsWith("UNKNOWN")) return failure(400, "INVALID_ARGUMENT", "Invalid value at 'type'");
      service.commands.push({ device, command: given, operation });
      service.operations.set(operation, { name: operation, metadata: given });
      return json(200, { name: operation, metadata: given });
    }
    return failure(404, "NOT_FOUND", path);
  }

  const fake = await startFake(answer);
  const file = join(newDir(), "account.json");
  writeFileSync(
    file,
    JSON.stringify({
      type: "service_account",
      project_id: "example-project",
      private_key_id: "a1",
      private_key: account.privateKey.export({ type: "pkcs8", format: "pem" }),
      client_email: EMAIL,
    }),
  );
  const service = Object.assign(fake, {
    settings: {
      android_management_url: `${fake.url}/v1`,
      google_token_url: `${fake.url}/token`,
      google_jwks_url: `${fake.url}/keys`,
      android_service_account: file,
      android_pubsub_topic: "projects/example-project/topics/devices",
      android_pubsub_token: PUBSUB_TOKEN,
    },
    enterprises: new Map(),
    policies: new Map(),
    policyOf: new Map(),
    devices: new Map(),
    commands: [],
    operations: new Map(),
    deleted: [],
    webApps: [],
    apps: new Map(),
    note: "",
    tokens: 0,
    now: () => new Date(),
    fault: () => null,
    async jwt({ audience, email, key, issuer, expires } = {}) {
      return new SignJWT({ email: email ?? EMAIL, email_verified: true })
        .setProtectedHeader({ alg: "RS256", kid: "k1" })
        .setIssuer(issuer ?? "https://accounts.google.com")
        .setAudience(audience ?? `https://svc.example.com${PUBSUB}`)
        .setIssuedAt(service.now())
        .setExpirationTime(expires ?? Math.floor(service.now().getTime() / 1000) + 3600)
        .sign(key ?? signer.privateKey);
    },
    async send(t, notificationType, data, { messageId = randomUUID(), token = PUBSUB_TOKEN, jwt } = {}) {
      const message = {
        attributes: { notificationType },
        data: Buffer.from(JSON.stringify(data)).toString("base64"),
        messageId,
        publishTime: service.now().toISOString(),
      };
      return t.raw(`${PUBSUB}?token=${token}`, {
        method: "POST",
        headers: { authorization: `Bearer ${jwt ?? (await service.jwt())}`, "content-type": "application/json" },
        body: JSON.stringify({ message, subscription: "projects/example-project/subscriptions/svc" }),
      });
    },
    device(id, more = {}) {
      const data = {
        name: `${ENTERPRISE}/devices/${id}`,
        managementMode: "DEVICE_OWNER",
        ownership: "COMPANY_OWNED",
        state: "ACTIVE",
        appliedState: "ACTIVE",
        enrollmentTokenData: service.note,
        appliedPolicyName: `${ENTERPRISE}/policies/default`,
        appliedPolicyVersion: "1",
        hardwareInfo: {
          brand: "google",
          manufacturer: "Google",
          model: "Pixel 8",
          serialNumber: `SER-${id}`,
          enterpriseSpecificId: `ESID-${id}`,
        },
        softwareInfo: { androidVersion: "15", androidBuildNumber: "AP4A.250105.002" },
        memoryInfo: { totalRam: "8000000000", totalInternalStorage: "128000000000" },
        memoryEvents: [
          { eventType: "INTERNAL_STORAGE_MEASURED", createTime: "2026-01-02T00:00:00Z", byteCount: "64000000000" },
          { eventType: "INTERNAL_STORAGE_MEASURED", createTime: "2026-01-01T00:00:00Z", byteCount: "1" },
        ],
        networkInfo: { wifiMacAddress: "AA:BB:CC:00:11:22" },
        ...more,
      };
      service.devices.set(data.name, data);
      return data;
    },
  } satisfies Omit<AndroidService, keyof Fake>) as AndroidService;
  return service;
}

/** Signs up, as an admin does. */
export async function turnAndroidOn(t: TestApp, service: AndroidService): Promise<void> {
  const reply = await t.get("/android_enterprise/signup_url");
  const { android_enterprise_signup_url: url } = (await reply.json()) as { android_enterprise_signup_url: string };
  const callback = new URL(new URL(url).searchParams.get("callbackUrl")!);
  const page = await t.raw(`${callback.pathname}?enterpriseToken=ET1`);
  if (page.status !== 200) throw new Error(`the sign-up failed: ${page.status} ${await page.text()}`);
  if (service.enterprises.size === 0) throw new Error("no enterprise was created");
}

/** Ends each sign-up at once, as an admin does on the vendor's page. */
export function endSignUps(t: TestApp, service: AndroidService): void {
  service.fault = ({ url }) => {
    if (!url.pathname.endsWith("/signupUrls")) return null;
    const { pathname } = new URL(url.searchParams.get("callbackUrl")!);
    // The sign-up is stored after the reply to this request.
    const finish = async () => {
      while ((await t.raw(`${pathname}?enterpriseToken=ET1`)).status !== 200) await setTimeout(20);
    };
    void finish();
    return null;
  };
}

/** Gets a token, enrolls a device with it, and returns what the device looks like. */
export async function enrollAndroid(
  t: TestApp,
  service: AndroidService,
  { id, secret, more = {} }: { id: string; secret: string; more?: Record<string, unknown> },
): Promise<AndroidDeviceData> {
  const reply = await t.as(null).get(`/android_enterprise/enrollment_token?enroll_secret=${secret}&fully_managed=true`);
  if (reply.status !== 200) throw new Error(`no token: ${reply.status} ${await reply.text()}`);
  const device = service.device(id, more);
  const sent = await service.send(t, "ENROLLMENT", device);
  if (sent.status !== 200) throw new Error(`not enrolled: ${sent.status} ${await sent.text()}`);
  return device;
}

/** Sends every policy that is due. A run that a change has woken may be under way, and has the rows for itself. */
export const sendAndroidPolicies = ({ services, store }: TestApp): Promise<void> =>
  expect
    .poll(async () => {
      await services.running.of(androidAgents).run();
      await services.running.of(androidPolicySender).run();
      return store.androidPolicies.count(eq("due", true));
    })
    .toBe(0);
