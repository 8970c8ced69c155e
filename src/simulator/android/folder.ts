// The folder of the stand-in of the Android Management API: its keys, and the settings with which a server uses it. A
// server reads them at its start, so that they have to be there before it.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { newKey } from "../../pki/x509.ts";

const ACCOUNT = "account.json";
const SIGNER = "signer.pem";
const SETTINGS = "settings.env";
const PROJECT = "svc-simulation";

export interface StandInKeys {
  /** The mail address and the public key of the service account. */
  readonly email: string;
  readonly account: KeyObject;
  /** Signs the pushes of the topic. */
  readonly signer: KeyObject;
  /** The secret in the push address. */
  readonly token: string;
  /** The organization that every sign-up creates, such as `enterprises/LC1`. */
  readonly enterprise: string;
}

interface StandInFolder {
  readonly keys: StandInKeys;
  /** Whether this call has made the folder: no server can use it yet. */
  readonly isNew: boolean;
  /** The file with the settings of the server, as lines of environment variables. */
  readonly settingsFile: string;
  /** Settings by the names of the variables. */
  readonly settings: Readonly<Record<string, string>>;
}

/** `url`: where the stand-in listens. Throws if the folder has files that are not those of a stand-in. */
export async function openFolder(folder: string, url: string): Promise<StandInFolder> {
  const at = (name: string) => resolve(join(folder, name));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const accountText = await readFile(at(ACCOUNT), "utf8").catch(() => null);
  if (accountText === null) await create(at);
  const account = JSON.parse(accountText ?? (await readFile(at(ACCOUNT), "utf8"))) as {
    client_email: string;
    private_key: string;
  };
  const signer = createPrivateKey(await readFile(at(SIGNER), "utf8"));
  const digest = createHash("sha256").update(account.private_key).digest("hex");
  const keys: StandInKeys = {
    email: account.client_email,
    account: createPublicKey(account.private_key),
    signer,
    token: digest.slice(0, 32),
    enterprise: `enterprises/LC${digest.slice(32, 40)}`,
  };
  const settings = {
    SVC_ANDROID_MANAGEMENT_URL: `${url}/v1`,
    SVC_GOOGLE_TOKEN_URL: `${url}/token`,
    SVC_GOOGLE_JWKS_URL: `${url}/keys`,
    SVC_ANDROID_SERVICE_ACCOUNT: at(ACCOUNT),
    SVC_ANDROID_PUBSUB_TOPIC: `projects/${PROJECT}/topics/devices`,
    SVC_ANDROID_PUBSUB_TOKEN: keys.token,
  };
  const lines = Object.entries(settings).map(([name, value]) => `export ${name}='${value}'\n`);
  await writeFile(at(SETTINGS), lines.join(""), { mode: 0o600 });
  return { keys, isNew: accountText === null, settingsFile: at(SETTINGS), settings };
}

async function create(at: (name: string) => string): Promise<void> {
  const [account, signer] = await Promise.all([newKey(), newKey()]);
  const pem = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" }) as string;
  await writeFile(at(SIGNER), pem(signer), { mode: 0o600 });
  const file = {
    type: "service_account",
    project_id: PROJECT,
    private_key_id: randomBytes(20).toString("hex"),
    private_key: pem(account),
    client_email: `svc@${PROJECT}.iam.gserviceaccount.com`,
  };
  await writeFile(at(ACCOUNT), JSON.stringify(file, null, 2), { mode: 0o600 });
}
