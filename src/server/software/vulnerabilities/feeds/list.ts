// The feeds, and where they are below a mirror and at their publishers.

export type FeedKind = "nvd" | "kev" | "epss" | "osv" | "msrc";

export interface Feed {
  readonly name: string;
  readonly kind: FeedKind;
  /** Below the mirror. */
  readonly path: string;
  readonly publisher: string;
  /** Whether a file with the digest is beside the feed. */
  readonly hasMeta: boolean;
}

/** The feed of this year also has the CVEs of the years before. */
export const FIRST_YEAR = 2002;
/** The feed whose changes of the last days replace what the files of years say. */
export const MODIFIED_FEED = "nvd-modified";
const MSRC_MONTHS = 60;
const monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const ecosystems = ["Ubuntu", "Debian", "Red Hat", "Rocky Linux", "AlmaLinux", "Alpine", "PyPI", "npm"];

const NVD = "https://nvd.nist.gov/feeds/json/cve/2.0";
const OSV = "https://storage.googleapis.com/osv-vulnerabilities";
const MSRC = "https://api.msrc.microsoft.com/cvrf/v3.0/cvrf";
const KEV = "https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json";
const EPSS = "https://epss.empiricalsecurity.com/epss_scores-current.csv.gz";

function nvdFeed(part: string): Feed {
  const file = `nvdcve-2.0-${part}.json.gz`;
  return { name: `nvd-${part}`, kind: "nvd", path: `nvd/${file}`, publisher: `${NVD}/${file}`, hasMeta: true };
}

/** The changes of the last days come first, because they replace what the years say. */
export function feedsAt(now: number): readonly Feed[] {
  const date = new Date(now);
  const years = Array.from({ length: date.getUTCFullYear() - FIRST_YEAR + 1 }, (_, i) => `${FIRST_YEAR + i}`).reverse();
  const months = Array.from({ length: MSRC_MONTHS }, (_, i) => {
    const month = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - i, 1));
    return `${month.getUTCFullYear()}-${monthNames[month.getUTCMonth()]}`;
  });
  return [
    { name: "kev", kind: "kev", path: "kev/known_exploited_vulnerabilities.json", publisher: KEV, hasMeta: false },
    { name: "epss", kind: "epss", path: "epss/epss_scores-current.csv.gz", publisher: EPSS, hasMeta: false },
    nvdFeed("modified"),
    ...years.map(nvdFeed),
    ...ecosystems.map((name): Feed => {
      const path = `${encodeURIComponent(name)}/all.zip`;
      const slug = name.toLowerCase().replaceAll(" ", "-");
      return { name: `osv-${slug}`, kind: "osv", path: `osv/${path}`, publisher: `${OSV}/${path}`, hasMeta: false };
    }),
    ...months.map((month): Feed => {
      const name = `msrc-${month.toLowerCase()}`;
      return { name, kind: "msrc", path: `msrc/${month}.json`, publisher: `${MSRC}/${month}`, hasMeta: false };
    }),
  ];
}

export const feedKind = (name: string): string => name.split("-")[0]!;
