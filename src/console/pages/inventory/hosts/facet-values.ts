// The facets of the list of hosts: what their values are called, and how a value narrows the list.
import type { HostFacetName, HostFacetsReply } from "../../../../api/inventory/host-facets.ts";
import { platformName } from "../../../parts/platforms.ts";
import type { UrlChange } from "../../../url.ts";
import { conditionsOf, selectorWord } from "./conditions.ts";

export type FacetValue = HostFacetsReply["facets"][number]["values"][number];

export interface Facet {
  readonly name: HostFacetName;
  readonly title: string;
  readonly text: (value: FacetValue) => string;
  readonly isSet: (value: FacetValue, url: URLSearchParams) => boolean;
  /** The change of the URL that selects the hosts with this value, or no longer does. */
  readonly toggle: (value: FacetValue, url: URLSearchParams) => UrlChange;
}

const named = ({ value, label }: FacetValue): string => label || (value === "" ? "not known" : String(value));

/** A facet that is a filter of the list, maybe with another one that it needs. */
const byFilter = (name: HostFacetName, title: string, filter: string, needs: UrlChange = {}): Facet => {
  const isSet: Facet["isSet"] = ({ value }, url) =>
    [[filter, value], ...Object.entries(needs)].every(([key, text]) => url.get(String(key)) === String(text));
  return {
    name,
    title,
    text: named,
    isSet,
    toggle: (value, url) =>
      isSet(value, url)
        ? Object.fromEntries([filter, ...Object.keys(needs)].map((key) => [key, null]))
        : { [filter]: String(value.value), ...needs },
  };
};

interface SelectorFacet {
  readonly condition: (value: FacetValue) => string;
  /** All conditions of the facet: a value replaces the one before. */
  readonly all: RegExp;
  readonly text?: Facet["text"];
}

/** A facet that is a condition of the selector. */
const bySelector = (name: HostFacetName, title: string, { condition, all, text = named }: SelectorFacet): Facet => {
  const conditions = (url: URLSearchParams) => conditionsOf(url.get("where") ?? "");
  const isSet: Facet["isSet"] = (value, url) => conditions(url).includes(condition(value));
  return {
    name,
    title,
    text,
    isSet,
    toggle(value, url) {
      const rest = conditions(url).filter((other) => !all.test(other));
      return { where: (isSet(value, url) ? rest : [...rest, condition(value)]).join(" and ") };
    },
  };
};

const equal = (field: string, text?: Facet["text"]): SelectorFacet => ({
  condition: ({ value }) => `${field} = ${value === null ? "none" : selectorWord(String(value))}`,
  all: new RegExp(`^${field} = `),
  ...(text === undefined ? {} : { text }),
});

const words =
  (yes: string, no: string, unknown = "not known") =>
  ({ value }: FacetValue): string =>
    value === null ? unknown : value === true ? yes : no;

export const shownFacets: readonly Facet[] = [
  byFilter("status", "Status", "status"),
  bySelector(
    "platform",
    "Platform",
    equal("platform", ({ value }) => platformName(String(value ?? ""))),
  ),
  byFilter("team", "Team", "team_id"),
  byFilter("label", "Label", "label_id"),
  bySelector("os_version", "Operating system", equal("os_version")),
  byFilter("mdm_enrollment_status", "Device management", "mdm_enrollment_status"),
  byFilter("failing_policy", "Failing policy", "policy_id", { policy_response: "failing" }),
  bySelector("vulnerable", "Vulnerabilities", {
    condition: ({ value }) => (value === true ? "cve ~ CVE" : "not cve ~ CVE"),
    all: /^(not )?cve ~ CVE$/,
    text: words("some", "none"),
  }),
  bySelector("disk_encryption_enabled", "Disk encryption", equal("disk_encryption_enabled", words("on", "off"))),
];
