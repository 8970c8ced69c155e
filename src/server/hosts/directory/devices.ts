// What the directory is sent of devices: whether they comply (PATCH /devices(deviceId='...') of Graph 1.0, in batches of
// its JSON batching, whose replies may come in any order).
import { z } from "zod";
import { seconds } from "../../platform/core/clock.ts";
import type { DirectoryClient } from "./client.ts";
import { DirectoryError, graphProblem } from "./problems.ts";

/** The directory's limit for a batch. */
export const DEVICES_IN_BATCH = 20;
const PERMISSIONS = "Device.ReadWrite.All";

export interface DeviceState {
  /** GUID in lower case. */
  readonly device_id: string;
  readonly isCompliant: boolean;
  readonly isManaged: boolean;
}

/** The HTTP status with which the directory has accepted it, or why not. */
export type DeviceOutcome = { readonly status: number } | { readonly error: DirectoryError; readonly status: number };

const Reply = z.object({
  responses: z
    .array(
      z.object({
        id: z.string().max(8),
        status: z.int(),
        headers: z.record(z.string(), z.union([z.string(), z.number()])).nullish(),
      }),
    )
    .max(DEVICES_IN_BATCH),
});

/**
 * Reports up to `DEVICES_IN_BATCH` devices; one outcome for each, in their order. `attribute`: 0, or the number of the
 * extension attribute that is written instead of `isCompliant` and `isManaged`. Throws a `DirectoryError` if the batch as
 * a whole was not accepted.
 */
export async function reportDevices(
  client: DirectoryClient,
  devices: readonly DeviceState[],
  attribute: number,
): Promise<DeviceOutcome[]> {
  const requests = devices.map((device, at) => ({
    id: String(at + 1),
    method: "PATCH",
    // Without the version, to which the batch itself was sent.
    url: `/devices(deviceId='${device.device_id}')`,
    headers: { "content-type": "application/json" },
    body: bodyOf(device, attribute),
  }));
  const { responses } = await client.post(Reply, "/$batch", { requests }, PERMISSIONS);
  const byId = new Map(responses.map((response) => [response.id, response]));
  return requests.map(({ id }) => {
    const response = byId.get(id);
    if (!response)
      return { status: 0, error: new DirectoryError("unreachable", "the directory's reply does not name the device") };
    const { status } = response;
    if (status >= 200 && status < 300) return { status };
    if (status === 404) return { status, error: new DirectoryError("gone", "the directory does not know this device") };
    return { status, error: graphProblem(status, retryAfter(response.headers ?? {}), PERMISSIONS) };
  });
}

function bodyOf({ isCompliant, isManaged }: DeviceState, attribute: number): Record<string, unknown> {
  if (attribute === 0) return { isCompliant, isManaged };
  const value = !isManaged ? "svc:unmanaged" : isCompliant ? "svc:compliant" : "svc:noncompliant";
  return { extensionAttributes: { [`extensionAttribute${attribute}`]: value } };
}

/** In milliseconds. Names of headers have no case. */
function retryAfter(headers: Readonly<Record<string, string | number>>): number | null {
  const header = Object.entries(headers).find(([name]) => name.toLowerCase() === "retry-after");
  const wait = Number(header?.[1] ?? Number.NaN);
  return Number.isFinite(wait) && wait >= 0 ? seconds(wait) : null;
}
