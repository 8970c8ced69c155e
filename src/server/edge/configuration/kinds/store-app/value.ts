// Values of store apps: what requests may contain.

import { z } from "zod";
import { BatchApp, isAppId } from "../../../../../api/delivery/store-apps.ts";
import { defaultedSchemasOf } from "../../../../../api/plain-fields.ts";
import { storeAppFields, storePlatforms } from "../../../../../api/software/store-app.ts";
import type { StorePlatform } from "../../../../delivery/store-apps/tables.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import type { RequestedChange } from "../../changes.ts";
import { parsed } from "../../parse.ts";
import type { Contents } from "../../values.ts";
import { readIcon } from "../title-icons.ts";

const labels = z.array(z.string().min(1).max(255)).max(1000);
const time = BatchApp.shape.auto_update_window_start.unwrap().nullable();

const StoreAppValue = z.strictObject({
  ...defaultedSchemasOf(storeAppFields),
  categories: z.array(z.string().min(1).max(255)).max(100),
  /** A property list or, for Android, JSON, by its digest. Empty: none. */
  configuration: z.string().regex(/^([0-9a-f]{64})?$/, { error: "must be a SHA-256 digest in hex, or empty" }),
  /** An image, by its digest. Empty: that of the store. */
  icon: z.string().regex(/^([0-9a-f]{64})?$/, { error: "must be a SHA-256 digest in hex, or empty" }),
  setup_experience: z.boolean(),
  auto_update_window_start: time,
  auto_update_window_end: time,
  labels_include_all: labels,
  labels_include_any: labels,
  labels_exclude_any: labels,
});
export type StoreAppValue = z.output<typeof StoreAppValue>;

export interface DesiredStoreApp {
  readonly value: StoreAppValue;
  readonly adamId: string;
  /** Undefined: all platforms of the app. */
  readonly platform: StorePlatform | undefined;
  /** Undefined if the request does not contain it: then it stays. */
  readonly configuration: string | undefined;
  /** The image, if the request contains it. */
  readonly icon: Buffer | undefined;
}

const CONFIGURATION_BYTES_MAX = 1_000_000;

export function readApp(
  _: Context,
  { name, value }: RequestedChange,
  _texts: unknown,
  contents: Contents,
): DesiredStoreApp {
  const input = parsed(StoreAppValue, value);
  const [adamId = "", platform, ...more] = name.split("/");
  const knownPlatform = storePlatforms.find((candidate) => candidate === platform);
  if (
    !isAppId(adamId, knownPlatform === "android") ||
    (platform !== undefined && knownPlatform === undefined) ||
    more.length > 0
  )
    throw invalid("change.name", `must be the number of an app in the store, or as 361285480/${storePlatforms[0]}`);
  const bytes = contents.get(input.configuration);
  if (bytes && bytes.length > CONFIGURATION_BYTES_MAX)
    throw invalid("configuration", `is larger than ${CONFIGURATION_BYTES_MAX} bytes`);
  const configuration = input.configuration === "" ? "" : bytes && Buffer.from(bytes).toString("utf8");
  return { value: input, adamId, platform: knownPlatform, configuration, icon: readIcon(input, contents) };
}
