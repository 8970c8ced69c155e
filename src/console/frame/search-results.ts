import type { SearchResult } from "../../api/edge/search.ts";
import { consolePaths } from "../routes.ts";

/** The page of what was found. Null: the console has none for it yet. */
export function hrefOfResult({ type, id, name, team_id }: SearchResult): string | null {
  switch (type) {
    case "hosts":
      return `/hosts/${id}`;
    case "policies":
      return team_id === null ? `/policies/${id}` : `/policies/${id}?of=${team_id}`;
    case "queries":
      return `/queries/${id}`;
    case "software":
      return `/software/titles/${id}`;
    case "cves":
      return `/vulnerabilities/${name}`;
    case "labels":
      return `/hosts?label_id=${id}`;
    case "teams":
      return `/hosts?team_id=${id}`;
    case "profiles":
      return `/controls/profiles/${id}`;
    case "users":
      return consolePaths.includes("/settings/users/:id") ? `/settings/users/${id}` : null;
    default:
      return null;
  }
}
