import { AppleStatus, appleTrustApi } from "../../../api/devices/apple-trust.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { enrolledElsewhere, SET_IT_BACK } from "../../../cli/topics/mdm/enrolled-elsewhere.ts";
import { plural } from "../../../text/plural.ts";

const pushName = (field: unknown): string => {
  const certificate = field as AppleStatus["push_certificate"];
  return certificate === null ? "none" : `${certificate.common_name}, until ${certificate.renew_date.slice(0, 10)}`;
};

/** All certificates. */
const ends = (all: unknown): string =>
  Array.isArray(all)
    ? (all as AppleStatus["expiring"])
        .map(({ name, not_valid_after: end, days_left: left, soon }) => {
          const day = end.slice(0, 10);
          if (left < 0) return `${name}: ended on ${day}`;
          return soon ? `${name}: expires in ${plural(left, "day")}, on ${day}` : `${name}: valid until ${day}`;
        })
        .join(", ")
    : "";

/** Texts for values that are not plain. */
const texts: Readonly<Record<string, (value: unknown) => string>> = { push_certificate: pushName, expiring: ends };

export default class MdmAppleStatus extends ClientCommand {
  static override summary = "Show whether Apple devices can be managed, and when which certificate ends.";
  static override endpoints = [appleTrustApi.status];
  static override examples = ["<%= config.bin %> <%= command.id %>", "<%= config.bin %> <%= command.id %> -o json"];

  async run() {
    await this.parse(MdmAppleStatus);
    const status = await this.call(appleTrustApi.status);
    await this.printOne(status, {
      schema: () => AppleStatus,
      columns: Object.keys(AppleStatus.shape).map((key) => ({
        key,
        ...(texts[key] && { text: texts[key] }),
        ...(key === "expiring" && { header: "certificates" }),
      })),
    });
    const { devices_to_enroll_again: lost } = status;
    if (lost > 0) this.note(`${enrolledElsewhere(lost)}. ${SET_IT_BACK}`);
    for (const { name, days_left: left, not_valid_after: end } of status.expiring.filter(({ soon }) => soon))
      this.note(`the ${name} ${left < 0 ? "ended" : "ends"} on ${end.slice(0, 10)}: renew it`);
  }
}
