import { hostsApi } from "../api/inventory/hosts.ts";
import { appConfigApi } from "../api/settings/app-config.ts";
import { versionApi } from "../api/settings/version.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { CliError } from "../cli/errors.ts";
import { healthWarnings } from "../cli/topics/doctor/health.ts";
import { hasExpired } from "../cli/topics/license.ts";
import { ApiCallError } from "../client/errors.ts";

const unlessForbidden = async <T>(call: Promise<T>): Promise<T | null> => {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiCallError && (error.status === 403 || error.status === 402)) return null;
    throw error;
  }
};

export default class Status extends ClientCommand {
  static override summary = "Show the server's health, version, license and hosts.";
  static override endpoints = [versionApi.get];
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(Status);
    const { serverUrl } = await this.connection();
    const client = await this.client();
    const health = await client.raw("GET", "/healthz");
    const [version, config, hosts] = await Promise.all([
      this.call(versionApi.get),
      unlessForbidden(this.call(appConfigApi.get)),
      unlessForbidden(this.call(hostsApi.summary)),
    ]);
    await this.printOne({
      server: serverUrl,
      health: health.status === 200 ? "ok" : (health.text.trim() || `status ${health.status}`).slice(0, 500),
      warnings: healthWarnings(health.text),
      version: version.version,
      revision: version.revision || null,
      built_at: version.build_date || null,
      client_version: this.config.version,
      license: config?.license.tier ?? null,
      license_expired: config === null ? null : hasExpired(config.license, this.io.now()),
      hosts: hosts?.totals_hosts_count ?? null,
      online: hosts?.online_count ?? null,
      offline: hosts?.offline_count ?? null,
    });
    if (health.status !== 200)
      throw new CliError("failed", "the server is not healthy", "The cause is in the server's log.");
  }
}
