import * as Flags from "@oclif/core/flags";
import { Host } from "../../api/hosts/host.ts";
import { hostsApi } from "../../api/inventory/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import type { Column } from "../../cli/output/table.ts";
import { timeColumn } from "../../cli/output/time-column.ts";
import { noteMissingData } from "../../cli/topics/vulnerabilities/no-data.ts";

/** Hosts that have not yet reported their memory have 0. */
export default class HostsGet extends ClientCommand {
  static override summary = "Show a host.";
  static override endpoints = [hostsApi.get, hostsApi.byIdentifier];
  static override args = { host: args.host };
  static override flags = {
    "exclude-software": Flags.boolean({ summary: "Omit the software." }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com",
    "<%= config.bin %> <%= command.id %> 1 -o json --exclude-software",
  ];

  async run() {
    const { args, flags } = await this.parse(HostsGet);
    const { id } = await this.host(args.host);
    // The software is only shown in structured output and in chosen fields.
    const whole = this.structured || flags.fields !== undefined;
    const reply = await this.call(hostsApi.get, {
      params: { id },
      query: { exclude_software: flags["exclude-software"] || !whole },
    });
    const { host } = reply;
    const now = this.io.now();
    const time = (key: string, header: string) => timeColumn(key, header, this.relativeTimes, now);
    await this.printOne(host, {
      schema: () => Host,
      columns: this.format === "csv" ? Object.keys(host).map((key) => ({ key })) : columnsOf(host, time),
    });
    if ((host.software ?? []).length > 0) await noteMissingData(this, reply);
  }
}

const columnsOf = (host: Host, time: (key: string, header: string) => Column): readonly Column[] => [
  { key: "id" },
  { key: "display_name", header: "host" },
  { key: "hostname" },
  { key: "status" },
  time("seen_time", "last seen"),
  { key: "team_name", header: "team" },
  { key: "platform" },
  { key: "os_version", header: "os version" },
  { key: "uuid" },
  { key: "hardware_serial", header: "serial number" },
  { key: "hardware_vendor", header: "vendor" },
  { key: "hardware_model", header: "model" },
  { key: "cpu_brand", header: "cpu" },
  { key: "cpu_logical_cores", header: "cores" },
  { key: "memory" },
  {
    key: "gigs_disk_space_available",
    header: "disk free",
    text: (free) => `${free} of ${host.gigs_total_disk_space} GB (${host.percent_disk_space_available} %)`,
  },
  { key: "disk_encryption_enabled", header: "disk encrypted" },
  { key: "issues.failing_policies_count", header: "failing policies" },
  { key: "mdm.enrollment_status", header: "device management" },
  { key: "mdm.name", header: "managed by" },
  { key: "mdm.device_status", header: "device" },
  { key: "mdm.pending_action", header: "pending action" },
  {
    key: "geolocation",
    header: "place",
    text: () => {
      const { city_name: city = "", country_iso: country = "" } = host.geolocation ?? {};
      return [city, country].filter(Boolean).join(", ");
    },
  },
  {
    key: "end_users",
    header: "people",
    text: () =>
      (host.end_users ?? [])
        .flatMap((user) => [user.idp_username, ...user.other_emails.map(({ email }) => email)])
        .filter(Boolean)
        .join(", "),
  },
  {
    key: "batteries",
    text: () => (host.batteries ?? []).map((battery) => `${battery.health} (${battery.cycle_count} cycles)`).join(", "),
  },
  { key: "primary_ip", header: "ip address" },
  { key: "primary_mac", header: "mac address" },
  { key: "public_ip", header: "public ip" },
  { key: "qengine_version", header: "query agent" },
  { key: "agent_version", header: "managed agent" },
  {
    key: "agent_conflict",
    header: "agent copied",
    text: () => {
      const { agent_conflict: conflict } = host;
      return conflict ? `to another machine, at ${conflict.address}, ${conflict.detected_at}` : "";
    },
  },
  {
    key: "users",
    text: (users) => (Array.isArray(users) ? users.map(({ username }) => username).join(", ") : ""),
  },
  {
    key: "labels",
    text: (labels) => (Array.isArray(labels) ? labels.map(({ name }) => name).join(", ") : ""),
  },
  { key: "refetch_requested", header: "refetch requested" },
  time("detail_updated_at", "details updated"),
  time("last_enrolled_at", "enrolled"),
  time("last_restarted_at", "restarted"),
];
