// A stand-in for the business portal's service for automatic enrollment, made from its public documentation: OAuth 1.0a
// sessions, pages of devices with cursors, profiles and assignments.
import { createHmac, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestApp } from "./app.ts";
import { type Fake, newDir, openssl, type Request, startFake } from "./ca-fakes.ts";
import { makeHost } from "./make.ts";

export interface PortalDevice {
  serial_number: string;
  device_family: string;
  model?: string;
  op_type?: "added" | "modified" | "deleted";
  op_date?: string;
  device_assigned_date?: string;
  mdm_migration_deadline?: string;
}

export interface Portal extends Fake {
  readonly credentials: Readonly<Record<string, string>>;
  /** All devices that are assigned to the server. */
  devices: PortalDevice[];
  /** What has happened since: each call of `/devices/sync` returns what follows its cursor. */
  readonly changes: PortalDevice[];
  /** Profiles by id. */
  readonly profiles: Map<string, Record<string, unknown>>;
  /** The profile of each device, by serial number. */
  readonly assigned: Map<string, string>;
  readonly disowned: string[];
  /** How assignments of a device end; default SUCCESS. */
  respond: (serial: string) => string;
  retryAfter: number | null;
  /** An error instead of the reply to a path. */
  fault: (path: string, request: Request) => { status: number; body: string; headers?: Record<string, string> } | null;
  pageSize: number;
  sessions: number;
  endSessions(): void;
  /** Makes cursors useless, as after seven days. */
  expireCursors(): void;
  /** The token file, encrypted to the certificate. */
  tokenFile(certificate: string, more?: Record<string, string>): Promise<Buffer>;
}

/** The portal's id of this server. */
export const PORTAL_SERVER = "5ADEB0C2A9D34F3E8D5E2A4E0D5C0F11";

export async function startPortal(): Promise<Portal> {
  const secret = () => randomBytes(12).toString("hex");
  const credentials = {
    consumer_key: `CK_${secret()}`,
    consumer_secret: `CS_${secret()}`,
    access_token: `AT_${secret()}`,
    access_secret: `AS_${secret()}`,
  };
  const sessions = new Set<string>();
  let era = 1;

  const json = (status: number, body: unknown, headers: Record<string, string> = {}) => ({
    status,
    headers: { "content-type": "application/json;charset=UTF8", ...headers },
    body: JSON.stringify(body),
  });
  const words = (status: number, body: string) => ({ status, headers: { "content-type": "text/plain" }, body });

  function isSigned({ method, url, headers }: Request): boolean {
    const given = headers.authorization ?? "";
    if (!given.startsWith("OAuth ")) return false;
    const fields = new Map(
      [...given.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name!, decodeURIComponent(value!)]),
    );
    if (fields.get("realm") !== "ADM" || fields.get("oauth_signature_method") !== "HMAC-SHA1") return false;
    if (fields.get("oauth_token") !== credentials.access_token) return false;
    if (fields.get("oauth_consumer_key") !== credentials.consumer_key) return false;
    const signed = [...fields]
      .filter(([name]) => name !== "realm" && name !== "oauth_signature")
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .sort()
      .join("&");
    const base = `${method}&${encodeURIComponent(url.origin + url.pathname)}&${encodeURIComponent(signed)}`;
    const key = `${credentials.consumer_secret}&${credentials.access_secret}`;
    return createHmac("sha1", key).update(base).digest("base64") === fields.get("oauth_signature");
  }

  const fake = await startFake((request) => {
    const { method, url, headers, body } = request;
    const fault = portal.fault(url.pathname, request);
    if (fault) return fault;
    if (headers["x-server-protocol-version"] === undefined) return words(400, "NO_VERSION");
    if (url.pathname === "/session") {
      if (!isSigned(request)) return words(403, "ACCESS_DENIED");
      portal.sessions++;
      const token = secret();
      sessions.add(token);
      return json(200, { auth_session_token: token });
    }
    if (!sessions.has(String(headers["x-adm-auth-session"]))) return words(403, '"FORBIDDEN"');
    const given = body.length > 0 ? JSON.parse(body.toString("utf8")) : {};
    switch (`${method} ${url.pathname}`) {
      case "GET /account":
        return json(200, {
          server_uuid: PORTAL_SERVER,
          server_name: "svc",
          org_name: "Example Inc.",
          admin_id: "admin@example.com",
        });
      case "POST /server/devices": {
        const at = cursorOf(given.cursor, "all");
        if (at === null) return words(400, "INVALID_CURSOR");
        if (at >= portal.devices.length && at > 0) return words(400, "EXHAUSTED_CURSOR");
        const end = Math.min(at + portal.pageSize, portal.devices.length);
        return json(200, {
          devices: portal.devices
            .slice(at, end)
            .map((device) => ({ ...device, profile_uuid: portal.assigned.get(device.serial_number) ?? "" })),
          cursor: cursor("all", end),
          more_to_follow: end < portal.devices.length,
        });
      }
      case "POST /devices/sync": {
        if (typeof given.cursor === "string" && given.cursor.startsWith(`${era}:all:`))
          given.cursor = cursor("changes", 0);
        const at = cursorOf(given.cursor, "changes");
        if (at === null) return words(400, "EXPIRED_CURSOR");
        const end = Math.min(at + portal.pageSize, portal.changes.length);
        return json(200, {
          devices: portal.changes.slice(at, end),
          cursor: cursor("changes", end),
          more_to_follow: end < portal.changes.length,
        });
      }
      case "POST /profile": {
        if (typeof given.profile_name !== "string" || given.profile_name === "")
          return words(400, "CONFIG_NAME_REQUIRED");
        const uuid = secret().toUpperCase();
        portal.profiles.set(uuid, given);
        return json(200, { profile_uuid: uuid, devices: {} });
      }
      case "PUT /profile/devices": {
        if (!portal.profiles.has(given.profile_uuid)) return words(404, "NOT_FOUND");
        const devices: Record<string, string> = {};
        for (const serial of given.devices as string[]) {
          const response = portal.respond(serial);
          devices[serial] = response;
          if (response === "SUCCESS") portal.assigned.set(serial, given.profile_uuid);
        }
        return json(200, {
          profile_uuid: given.profile_uuid,
          devices,
          ...(portal.retryAfter === null ? {} : { retry_after_seconds: portal.retryAfter }),
        });
      }
      case "POST /devices/disown": {
        const devices: Record<string, string> = {};
        for (const serial of given.devices as string[]) {
          const isKnown = portal.devices.some(({ serial_number }) => serial_number === serial);
          devices[serial] = isKnown ? "SUCCESS" : "NOT_ACCESSIBLE";
          if (isKnown) portal.disowned.push(serial);
        }
        return json(200, { devices });
      }
    }
    return words(404, "NOT_FOUND");
  });

  const cursor = (kind: string, at: number) => `${era}:${kind}:${at}`;
  const cursorOf = (given: unknown, kind: string): number | null => {
    if (given === undefined) return kind === "all" ? 0 : null;
    const [of, what, at] = String(given).split(":");
    return of === String(era) && what === kind ? Number(at) : null;
  };

  const portal: Portal = Object.assign(fake, {
    credentials,
    devices: [],
    changes: [],
    profiles: new Map(),
    assigned: new Map(),
    disowned: [],
    respond: () => "SUCCESS",
    retryAfter: null,
    fault: () => null,
    pageSize: 1000,
    sessions: 0,
    endSessions: () => sessions.clear(),
    expireCursors: () => void era++,
    async tokenFile(certificate: string, more: Record<string, string> = {}) {
      const dir = newDir();
      const json = JSON.stringify({ ...credentials, access_token_expiry: "2027-03-01T00:00:00Z", ...more });
      const inner = `Content-Type: text/plain;charset=UTF-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n-----BEGIN MESSAGE-----\r\n${json}\r\n-----END MESSAGE-----\r\n`;
      writeFileSync(join(dir, "inner"), inner);
      writeFileSync(join(dir, "cert.pem"), certificate);
      return Buffer.from(await openssl(dir, "smime", "-encrypt", "-aes256", "-binary", "-in", "inner", "cert.pem"));
    },
  } satisfies Omit<Portal, keyof Fake>);
  return portal;
}

let tokens = 0;

/** A stored token, as if it had been uploaded. */
export const makeAbmToken = (t: Pick<TestApp, "store" | "clock">, credentials: Readonly<Record<string, string>> = {}) =>
  t.store.abmTokens.insert({
    created_at: t.clock.iso(),
    vendora_id: "admin@example.com",
    org_name: "Example Inc.",
    server_uuid: `server ${++tokens}`,
    credentials: JSON.stringify(credentials),
    renew_date: "2027-03-01T00:00:00.000Z",
  });

/** A portal that knows the hosts with these ids, and a setup assistant profile for hosts without a team. */
export async function makePortal(t: Pick<TestApp, "store" | "clock" | "services">, hostIds: readonly number[]) {
  const portal = await startPortal();
  Object.assign(t.services.settings, { dep_url: portal.url });
  const { id: token_id } = await makeAbmToken(t, portal.credentials);
  const now = t.clock.iso();
  portal.devices = hostIds.map((id) => ({ serial_number: `SERIAL${id}`, device_family: "Mac" }));
  await t.store.portalDevices.insertMany(
    hostIds.map((host_id) => ({
      ...{ serial: `SERIAL${host_id}`, token_id, host_id, family: "macos" as const },
      ...{ added_at: now, seen_at: now, changed_at: now },
    })),
  );
  await t.store.setupAssistants.insertMany(
    ["none", ...(await t.store.teams.pick(["id"], {})).map(({ id }) => String(id))].map((team_key) => ({
      ...{ team_key, team_id: team_key === "none" ? null : Number(team_key), name: "setup.json", uploaded_at: now },
      enrollment_profile: { profile_name: "Setup" },
    })),
  );
  return portal;
}

/** A host that the portal expects, as the synchronization makes it. */
export async function expectDevice(
  t: Pick<TestApp, "store" | "clock">,
  serial: string,
  family: "macos" | "ios" = "macos",
  team_id: number | null = null,
) {
  const token = await makeAbmToken(t);
  const platform = family === "macos" ? "darwin" : "ios";
  const host = await makeHost(t, {
    identifier: serial.toLowerCase(),
    hardware_serial: serial,
    uuid: "",
    platform,
    team_id,
  });
  await t.store.hostMdm.insert({ id: host.id, enrollment_status: "Pending", installed_from_dep: true });
  const now = t.clock.iso();
  const times = { added_at: now, seen_at: now, changed_at: now };
  await t.store.portalDevices.insert({ serial, token_id: token.id, host_id: host.id, family, ...times });
  return host;
}
