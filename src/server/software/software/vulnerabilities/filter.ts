// The filters of lists by the vulnerabilities of software.
import { and, eq, everything, exists, gte, lte, type Predicate } from "../../../platform/store/query.ts";
import { vulnerabilities } from "./tables.ts";

interface SeverityQuery {
  readonly vulnerable: boolean;
  readonly min_cvss_score?: number | undefined;
  readonly max_cvss_score?: number | undefined;
  readonly exploit?: boolean | undefined;
}

/**
 * The vulnerabilities (`softwareCves`) of which a version needs one to pass the filters. Null: it needs none. One
 * vulnerability has to pass all filters.
 */
export function matchingCveFilter({
  vulnerable,
  min_cvss_score,
  max_cvss_score,
  exploit,
}: SeverityQuery): Predicate | null {
  const hasScore = min_cvss_score !== undefined || max_cvss_score !== undefined;
  if (!hasScore && exploit !== true) return vulnerable ? everything : null;
  return exists(
    vulnerabilities,
    "cve",
    and(
      // A score that is not known is below 0.
      hasScore ? gte("cvss_score", Math.max(0, min_cvss_score ?? 0)) : everything,
      max_cvss_score === undefined ? everything : lte("cvss_score", max_cvss_score),
      exploit === true ? eq("cisa_known_exploit", true) : everything,
    ),
    "cve",
  );
}
