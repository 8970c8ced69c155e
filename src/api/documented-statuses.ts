// Refusals of single endpoints, besides those that follow from an endpoint's declaration.
import type { AnyEndpoint } from "./endpoint.ts";

interface DocumentedStatus {
  readonly status: number;
  readonly description: string;
  /** The message and the reason of the example. */
  readonly message: string;
  readonly reason: string;
}

const of = (status: number, description: string, message: string, reason = message): DocumentedStatus => ({
  status,
  description,
  message,
  reason,
});

const wrongCredentials = of(
  401,
  "Wrong credentials, or a token that is wrong, used or too old.",
  "Authentication failed",
);
const tooMany = of(
  429,
  "Too many attempts; `Retry-After` says when the next one is allowed.",
  "limit exceeded, retry after: 30s",
);
const noMail = of(500, "No mail is set up, or it cannot be sent.", "Unknown Error", "email not configured");
const taken = of(409, "The name is taken.", "Resource Already Exists", "an object with this name exists already");
const inUse = of(409, "Something still uses it; the reason names it.", "Conflict", "it is used by the script setup.sh");
const alreadyThere = of(409, "There is one already.", "Conflict", "there is one already");
const mdmOff = of(400, "Device management is not turned on, or malformed input.", "device management is not turned on");
const cannot = of(
  422,
  "The host cannot do this, or an earlier action is still pending.",
  "Validation Failed",
  "the host is offline",
);

const statuses: Readonly<Record<string, readonly DocumentedStatus[]>> = {
  "POST /login": [wrongCredentials, tooMany],
  "POST /sessions": [wrongCredentials, tooMany],
  "POST /forgot_password": [tooMany, noMail],
  "POST /reset_password": [wrongCredentials, tooMany],
  "POST /perform_required_password_reset": [of(403, "No reset is required.", "Permission Denied")],
  "POST /sso": [
    tooMany,
    of(500, "The metadata of the identity provider cannot be fetched.", "Unknown Error", "metadata_url: no reply"),
  ],
  "POST /setup": [of(409, "A user exists already.", "Conflict", "the server is set up already")],
  "POST /users": [
    of(404, "The invite does not exist, or was used.", "Resource Not Found", "invite was not found in the datastore"),
  ],
  "POST /users/admin": [
    of(402, "The role, or multi-factor authentication, is premium.", "Requires Svc Premium license"),
    taken,
  ],
  "PATCH /users/:id": [
    of(402, "The role, or multi-factor authentication, is premium.", "Requires Svc Premium license"),
    taken,
  ],
  "POST /invites": [
    of(402, "The role, or multi-factor authentication, is premium.", "Requires Svc Premium license"),
    taken,
  ],
  "PATCH /invites/:id": [taken],
  "POST /labels": [taken],
  "PATCH /labels/:id": [taken],
  "POST /queries": [taken],
  "PATCH /queries/:id": [taken],
  "POST /global/policies": [taken],
  "PATCH /global/policies/:id": [taken],
  "POST /teams/:id/policies": [taken],
  "PATCH /teams/:team_id/policies/:policy_id": [taken],
  "POST /teams": [taken],
  "PATCH /teams/:id": [taken],
  "POST /certificate_authorities": [taken],
  "PATCH /certificate_authorities/:id": [taken],
  "POST /custom_variables": [taken],
  "DELETE /custom_variables/:id": [inUse],
  "POST /custom_host_vitals": [taken],
  "PATCH /custom_host_vitals/:id": [taken],
  "DELETE /custom_host_vitals/:id": [inUse],
  "POST /configuration_profiles": [mdmOff, taken],
  "PATCH /configuration_profiles/:profile_uuid": [mdmOff, taken],
  "POST /mdm/commands/run": [mdmOff, of(404, "No host has one of the uuids.", "Resource Not Found")],
  "GET /mdm/commands": [mdmOff],
  "GET /mdm/commandresults": [mdmOff],
  "POST /enrollment_profiles/automatic": [mdmOff],
  "GET /enrollment_profiles/automatic": [mdmOff, of(404, "There is none.", "Resource Not Found")],
  "DELETE /enrollment_profiles/automatic": [mdmOff, of(404, "There is none.", "Resource Not Found")],
  "POST /bootstrap": [mdmOff],
  "POST /setup_experience/eula": [mdmOff, alreadyThere],
  "POST /setup_experience/script": [alreadyThere],
  "POST /scripts": [taken],
  "DELETE /scripts/:id": [inUse],
  "POST /scripts/run/sync": [
    of(408, "The host has not answered in time; the reply has the same fields as after an answer.", "timeout"),
    of(409, "Scripts are queued for the host.", "Conflict", "scripts are queued for this host"),
  ],
  "POST /software/package": [taken],
  "POST /software/app_store_apps": [taken],
  "POST /software/svc_maintained_apps": [taken],
  "POST /hosts/:id/lock": [mdmOff, cannot],
  "POST /hosts/:id/unlock": [mdmOff, cannot],
  "POST /hosts/:id/wipe": [mdmOff, cannot],
  "DELETE /hosts/:id/mdm": [mdmOff],
  "POST /trigger": [
    of(404, "There is no job with this name.", "Resource Not Found", "job x was not found in the datastore"),
    of(409, "It is running, or already requested.", "Conflict", "the job is running"),
  ],
};

export const documentedStatuses = ({
  method,
  path,
}: Pick<AnyEndpoint, "method" | "path">): readonly DocumentedStatus[] => statuses[`${method} ${path}`] ?? [];

export const endpointsWithStatuses = (): string[] => Object.keys(statuses);
