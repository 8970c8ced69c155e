// What uploads have to satisfy, whatever their platform.

import { createHash } from "node:crypto";
import { ACTIVATION_MAX, PROFILE_MAX } from "../../../api/devices/profiles.ts";
import type { Context } from "../../platform/core/context.ts";
import { alreadyExists, invalid, mdmOff } from "../../platform/core/errors.ts";
import type { ProfileFile, ProfilePlatform, ReadProfile } from "./platform.ts";
import { profilePlatforms } from "./platform.ts";
import { checkVariables, hasVariables } from "./variables.ts";

export interface Upload extends ReadProfile {
  /** The field of the request, for errors. */
  readonly field: string;
  readonly platform: ProfilePlatform;
  readonly bytes: Uint8Array;
  readonly checksum: string;
  readonly has_variables: boolean;
  readonly activation: Uint8Array | null;
  readonly activation_identifier: string | null;
}

interface ProfileFiles extends ProfileFile {
  /** Null: none of its own. */
  readonly activation: Uint8Array | null;
}

const NAME_MAX = 255;

/** Reads an upload for a platform whose device management is turned on. 400 if it is not. */
export async function readUpload(ctx: Context, files: ProfileFiles, field: string): Promise<Upload> {
  const upload = parseUpload(ctx, files, field);
  await checkIsOn(ctx, upload);
  return upload;
}

export async function checkIsOn(ctx: Pick<Context, "config">, { platform }: Pick<Upload, "platform">): Promise<void> {
  if (!(await platform.isOn(ctx))) throw mdmOff();
}

/** Reads a file with the platform that recognizes it. 422 that names the reason if it is refused. */
export function parseUpload(
  ctx: Pick<Context, "extensions">,
  { bytes, name, activation }: ProfileFiles,
  field: string,
): Upload {
  if (bytes.byteLength === 0) throw invalid(field, "the profile is empty");
  if (bytes.byteLength > PROFILE_MAX) throw invalid(field, `the profile is larger than ${PROFILE_MAX} bytes`);
  for (const platform of ctx.extensions.of(profilePlatforms)) {
    const content = platform.read({ bytes, name });
    if (content === null) continue;
    for (const [what, text] of Object.entries({ name: content.name, identifier: content.identifier })) {
      if (text.trim() === "") throw invalid(field, `the ${what} of the profile is empty`);
      if (text.length > NAME_MAX)
        throw invalid(field, `the ${what} of the profile has more than ${NAME_MAX} characters`);
    }
    const activation_identifier = activation === null ? null : readActivation(platform, activation, content);
    const checksum = createHash("sha256").update(bytes).digest("hex");
    const has_variables = checkVariables(Buffer.from(bytes).toString("utf8"), field);
    return { ...content, field, platform, bytes, checksum, has_variables, activation, activation_identifier };
  }
  throw invalid(
    field,
    "the file is not a profile of a known format: .mobileconfig or a .json declaration for Apple devices, .xml for Windows, .json for Android",
  );
}

const ACTIVATION = "activation";

function readActivation(platform: ProfilePlatform, activation: Uint8Array, profile: ReadProfile): string {
  if (platform.readActivation === undefined) throw invalid(ACTIVATION, "only declarations have activations");
  if (activation.byteLength > ACTIVATION_MAX)
    throw invalid(ACTIVATION, `the activation is larger than ${ACTIVATION_MAX} bytes`);
  if (hasVariables(Buffer.from(activation).toString("utf8")))
    throw invalid(ACTIVATION, "activations cannot contain variables");
  return platform.readActivation(activation, profile, ACTIVATION);
}

export const nameTaken = (name: string) =>
  alreadyExists(`a configuration profile with the name ${JSON.stringify(name)} already exists in this team`);
export const identifierTaken = (identifier: string) =>
  alreadyExists(
    `a configuration profile with the identifier ${JSON.stringify(identifier)} already exists in this team`,
  );

export const activationTaken = (identifier: string) =>
  alreadyExists(
    `a profile whose activation has the identifier ${JSON.stringify(identifier)} already exists in this team`,
  );
