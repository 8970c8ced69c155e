// The service account with which this server uses the Android Management API.
import { createPrivateKey } from "node:crypto";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import type { Services } from "../../../platform/core/context.ts";
import { badRequest } from "../../../platform/core/errors.ts";
import type { ServiceAccount as Account } from "../../../platform/core/outbound/service-account.ts";
import { startedPart } from "../../../platform/core/running.ts";
import { BadSetting } from "../../../platform/core/security/tls.ts";
import type { Settings } from "../../../platform/core/settings/settings.ts";

export interface ServiceAccount extends Account {
  readonly projectId: string;
}

const File = z.object({
  type: z.literal("service_account"),
  project_id: z.string().min(1),
  private_key_id: z.string().min(1),
  private_key: z.string().min(1),
  client_email: z.string().min(3),
});

/** Read at the start, so that a wrong file is noticed then. */
export const androidServiceAccount = startedPart("service account for Android", async ({ settings }) => ({
  account: await loadAccount(settings),
}));

async function loadAccount({
  android_service_account: file,
}: Pick<Settings, "android_service_account">): Promise<ServiceAccount | null> {
  if (file === undefined) return null;
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new BadSetting(`android_service_account: ${error.message}`);
  });
  try {
    const file = File.parse(JSON.parse(text));
    const key = createPrivateKey(file.private_key);
    if (key.asymmetricKeyType !== "rsa") throw new Error("the key is not an RSA key");
    return { email: file.client_email, projectId: file.project_id, keyId: file.private_key_id, key };
  } catch {
    throw new BadSetting(`android_service_account: ${file} is not the JSON key of a service account`);
  }
}

/** Null: none is set. */
export const accountOf = ({ running }: Pick<Services, "running">): ServiceAccount | null =>
  running.find(androidServiceAccount)?.account ?? null;

/** 400 that names the setting if there is none. */
export function requireAccount(services: Pick<Services, "running">): ServiceAccount {
  const account = accountOf(services);
  if (account === null)
    throw badRequest(
      "Android devices cannot be managed: the setting android_service_account (SVC_ANDROID_SERVICE_ACCOUNT) of the server is not set",
    );
  return account;
}
