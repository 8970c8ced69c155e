// Creates the first admin without a request: from the environment, or for quick start.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { shellWord } from "../text/shell.ts";
import { type Services, serviceContext } from "./platform/core/context.ts";
import { ApiError } from "./platform/core/errors.ts";
import { BadSetting, certificateFile } from "./platform/core/security/tls.ts";
import { addGlobalSecret } from "./settings/enroll-secrets/service.ts";
import { createFirstAdmin } from "./settings/setup/service.ts";

export interface FirstAdmin {
  readonly email: string;
  /** Generated, to be displayed once. Null if the operator chose the password. */
  readonly password: string | null;
  readonly token: string;
  /** The certificate (PEM) that clients have to trust; null without TLS. */
  readonly ca: string | null;
}

/** The flag that lets a client on this machine trust a certificate that the server has made itself. */
const trusting = (settings: Services["settings"]): string =>
  settings.tls_self_signed && settings.tls_cert === undefined
    ? ` --ca-file ${shellWord(resolve(certificateFile(settings)!))}`
    : "";

/** Creates the first admin if no user exists and the settings request one. Otherwise returns null. */
export async function bootstrap(
  services: Services,
  options: { url: string; quickstart: boolean },
): Promise<FirstAdmin | null> {
  const { settings, store, random, log } = services;
  if ((await store.users.count()) > 0) return null;
  const generated = settings.admin_password === undefined;
  const email = settings.admin_email ?? (options.quickstart ? "admin@example.com" : null);
  if (email === null) {
    log.info(
      { url: `${options.url}/api/v1/setup` },
      `no user exists yet: open ${options.url}/setup in a browser, or run \`svc setup --server-url ${options.url}${trusting(settings)}\``,
    );
    if (settings.host !== "127.0.0.1" && settings.host !== "localhost")
      process.stderr.write(`setup token (needed from other machines): ${services.setupToken}\n`);
    return null;
  }
  // The suffix satisfies the password rules regardless of the random part.
  const password = settings.admin_password ?? `${random.token(15)}-7`;
  const created = await createFirstAdmin(services, {
    name: settings.admin_name,
    email,
    password,
    org_name: settings.org_name,
    server_url: settings.server_url ?? options.url,
  }).catch((error) => {
    // Another server created the first admin meanwhile.
    if (error instanceof ApiError && error.status === 409) return null;
    throw error instanceof ApiError
      ? new BadSetting(`admin_email, admin_password: ${error.errors[0]?.reason ?? error.message}`)
      : error;
  });
  if (created === null) return null;
  if (options.quickstart) await addGlobalSecret(serviceContext(services, "quickstart"));
  const file = certificateFile(settings);
  return {
    email,
    password: generated ? password : null,
    token: created.token,
    ca: file === null ? null : await readFile(file, "utf8"),
  };
}
