// How far the import of vulnerability data and the comparison with software are.
import type { VulnerabilityStatus } from "../../api/vulnerabilities.ts";
import type { Context } from "../core/context.ts";
import { jobStatus } from "../jobs/requests.ts";
import { countedAt } from "../software/vulnerabilities/state.ts";
import { vulnerabilities } from "./job.ts";
