// A client of the license service ("Apps and Books", version 2 of its API).

import { z } from "zod";
import type { Services } from "../../platform/core/context.ts";
import { fetchVendor, OutboundError, type OutboundReply } from "../../platform/core/outbound/fetch.ts";
import { jsonOf, retryAfterOf } from "../../platform/core/outbound/reply.ts";
import type { StorePlatform } from "./tables.ts";

/**
 * `terms`: the organization has to accept new terms. `token`: the service refuses the token. `busy`: it accepts no more
 * requests for now. `license`: there is no free license, or the app cannot be assigned to devices. `refused`: it refuses
 * what was sent. `unreachable`: no usable reply.
 */
type LicenseProblem = "terms" | "token" | "busy" | "license" | "refused" | "unreachable";

/** The message may be shown to admins. */
export class LicenseServiceError extends Error {
  readonly problem: LicenseProblem;
  /** Seconds after which to try again, if the service named a time. */
  readonly retryAfter: number | null;
  /** The service's own number; 0: there is none. */
  readonly number: number;

  constructor(problem: LicenseProblem, message: string, more: { retryAfter?: number | null; number?: number } = {}) {
    super(message);
    this.problem = problem;
    this.retryAfter = more.retryAfter ?? null;
    this.number = more.number ?? 0;
  }
}

const text = z.string().max(1024);
const Account = z.object({
  uId: text.min(1),
  locationName: text.default(""),
  countryISO2ACode: text.default(""),
});
export type LicenseAccount = z.output<typeof Account>;

const count = z.int().min(0).catch(0);
const Asset = z.object({
  adamId: text.regex(/^\d{1,20}$/),
  pricingParam: text.min(1),
  productType: text.default("App"),
  deviceAssignable: z.boolean().default(false),
  supportedPlatforms: z.array(text).default([]),
  availableCount: count,
  totalCount: count,
});
export type LicenseAsset = z.output<typeof Asset>;

const Paged = z.object({
  currentPageIndex: z.int().min(0).default(0),
  nextPageIndex: z.int().min(0).nullish(),
});
const AssetPage = Paged.extend({ assets: z.array(Asset).max(10_000).default([]) });
const Assignment = z.object({
  adamId: text,
  pricingParam: text,
  serialNumber: text.nullish(),
  clientUserId: text.nullish(),
});
export type Assignment = z.output<typeof Assignment>;
const AssignmentPage = Paged.extend({ assignments: z.array(Assignment).max(10_000).default([]) });
const Event = z.object({ eventId: text.min(1) });
const Failure = z.object({ errorNumber: z.int().default(0), errorMessage: text.default("") });
const EventStatus = z.object({
  eventStatus: z.enum(["PENDING", "COMPLETE", "FAILED"]),
  failures: z.array(Failure).default([]),
});

const MAX_PAGES = 10_000;
const MAX_BYTES = 32 * 1024 * 1024;
const TIMEOUT = 30_000;

type Deps = Pick<Services, "running" | "dryRun" | "settings">;

/** One asset for one device. */
export interface DeviceLicense {
  readonly adamId: string;
  readonly pricingParam: string;
  readonly serial: string;
}

export interface LicenseClient {
  account(): Promise<LicenseAccount>;
  assets(): AsyncIterable<readonly LicenseAsset[]>;
  /** The licenses of one device for an app. */
  assignments(adamId: string, serial: string): Promise<readonly Assignment[]>;
  /**
   * Starts an association, and returns the id of an event, whose end `settled` reports. `disassociate` does the
   * reverse.
   */
  associate(license: DeviceLicense): Promise<string>;
  disassociate(license: DeviceLicense): Promise<string>;
  /** Whether the event has ended. Throws if it has failed. */
  settled(eventId: string): Promise<boolean>;
}

export function licenseClient(services: Deps, token: string): LicenseClient {
  const base = services.settings.vpp_url.replace(/\/+$/, "");

  async function call<T>(schema: z.ZodType<T>, path: string, body?: unknown): Promise<T> {
    const reply = await send(services, `${base}${path}`, token, body);
    const content = jsonOf(reply);
    // The service may report an error with the status 200, too.
    const failure = z.object({ errorNumber: z.int().positive(), errorMessage: text.default("") }).safeParse(content);
    if (failure.success || reply.status !== 200)
      throw problemOf(reply, failure.success ? failure.data.errorNumber : 0, failure.data?.errorMessage ?? "");
    const parsed = schema.safeParse(content);
    if (!parsed.success)
      throw new LicenseServiceError("unreachable", `the license service's reply to ${path} is not valid`);
    return parsed.data;
  }

  const change = async (path: string, { adamId, pricingParam, serial }: DeviceLicense): Promise<string> => {
    const body = { assets: [{ adamId, pricingParam }], serialNumbers: [serial] };
    return (await call(Event, path, body)).eventId;
  };

  return {
    account: () => call(Account, "/client/config"),
    async *assets() {
      let page: number | null | undefined = 0;
      for (let read = 0; page != null && read < MAX_PAGES; read++) {
        const answer: z.output<typeof AssetPage> = await call(AssetPage, `/assets?pageIndex=${page}`);
        yield answer.assets;
        // A page that names itself or an earlier one would be an endless loop.
        page = answer.nextPageIndex != null && answer.nextPageIndex > page ? answer.nextPageIndex : null;
      }
    },
    async assignments(adamId, serial) {
      const query = new URLSearchParams({ adamId, serialNumber: serial });
      return (await call(AssignmentPage, `/assignments?${query}`)).assignments;
    },
    associate: (license) => change("/assets/associate", license),
    disassociate: (license) => change("/assets/disassociate", license),
    async settled(eventId) {
      const { eventStatus, failures } = await call(EventStatus, `/status?${new URLSearchParams({ eventId })}`);
      if (eventStatus !== "FAILED" && failures.length === 0) return eventStatus === "COMPLETE";
      const { errorNumber = 0, errorMessage = "" } = failures[0] ?? {};
      throw problemOf({ status: 200, headers: new Headers() }, errorNumber, errorMessage);
    },
  };
}

/** The platforms of an asset, as hosts have them. */
export function platformsOf({ supportedPlatforms }: Pick<LicenseAsset, "supportedPlatforms">): StorePlatform[] {
  const has = (name: string) => supportedPlatforms.some((device) => device.toLowerCase() === name);
  return [...(has("macos") ? ["darwin" as const] : []), ...(has("ios") ? ["ios" as const, "ipados" as const] : [])];
}

async function send(services: Deps, url: string, token: string, body: unknown): Promise<OutboundReply> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const request = body === undefined ? {} : { method: "POST" as const, body: JSON.stringify(body) };
  try {
    return await fetchVendor(services, url, { ...request, headers, timeout: TIMEOUT, maxBytes: MAX_BYTES });
  } catch (error) {
    if (error instanceof OutboundError) throw new LicenseServiceError("unreachable", error.message);
    throw error;
  }
}

/** "Interpreting Error Codes" of the vendor's documentation. */
const TOKEN_REFUSED: ReadonlySet<number> = new Set([9601, 9621, 9622, 9625]);
const NO_LICENSE: ReadonlySet<number> = new Set([9610, 9624, 9626, 9628]);
/** Whether there were too many failing requests, or too many requests. */
const isBusy = (number: number): boolean => (number >= 9630 && number <= 9639) || number === 9646;
/** The service found the license assigned already, or not assigned: what was asked is so. */
export const isDoneAlready = ({ number }: LicenseServiceError): boolean => number === 9616 || number === 9619;

function problemOf(
  { status, headers }: Pick<OutboundReply, "status" | "headers">,
  number: number,
  message: string,
): LicenseServiceError {
  if (/T_C_NOT_SIGNED|terms/i.test(message))
    return new LicenseServiceError("terms", "the organization has to accept new terms of the license service", {
      number,
    });
  if (TOKEN_REFUSED.has(number) || status === 401 || status === 403)
    return new LicenseServiceError("token", "the license service refuses the token: it has expired or was revoked", {
      number,
    });
  if (isBusy(number) || status === 429 || status === 503) {
    const retryAfter = retryAfterOf({ headers });
    return new LicenseServiceError("busy", "the license service accepts no more requests for now", {
      number,
      retryAfter,
    });
  }
  if (NO_LICENSE.has(number))
    return new LicenseServiceError("license", `the license service has no license for the device (error ${number})`, {
      number,
    });
  if (number !== 0 || status === 400)
    return new LicenseServiceError("refused", `the license service refused the request (error ${number || status})`, {
      number,
    });
  return new LicenseServiceError("unreachable", `the license service answered with status ${status}`);
}
