// Plans: changes of the configuration that the server keeps with their differences and their effect on hosts, until
// somebody applies all of them in one transaction.
//
// Changes name objects as configuration files do, by kind, owner and name, with the fields that files have. A plan
// covers only what it names: nothing is deleted because it is absent, and a deletion is a change of its own. `value` may
// have only some fields of an object that exists; the others stay. Names cannot be changed: to files, an object with
// another name is another object.
//
// The server tries all changes out when the plan is made, so a plan exists only if it could be applied then. It keeps
// a digest of each object that the changes are about. The apply is refused with 409 if one of these objects was changed
// since, and the reply names it. A plan is applied once: applying it again returns it unchanged.
//
// Changes are staged one after the other: a new plan may extend one, which it replaces.
//
// Whoever may make a change by itself may plan it: policies, queries, labels, profiles and scripts with the rights to
// write these; other kinds with the right to apply files, too. A plan is read by its author, and by those who may read
// all that it is about; it is applied and deleted by those who may make all of its changes. GitOps mode refuses to apply a
// plan if it refuses one of its changes; plans with nothing but what `gitops.exceptions` names are applied. No change of the configuration needs another user's approval; deleting and
// wiping hosts, which do, cannot be planned.
//
// The effect is computed when the plan is made, with one count per figure. It says how many hosts get an object, lose
// it, or keep it in another form, and how many of the hosts that it is for cannot have it, and why. What is not
// computed is said in `not_computed`: membership in labels whose query hosts have to answer first, objects that are not
// changed but use a changed label, and all changes of a plan after the first 25.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, Meta, nameText, Person, paging, Timestamp } from "../fields.ts";
import { ThingKey, Title } from "./configuration.ts";

/** How long a plan can be applied. */
export const PLAN_HOURS = 24;
export const PLAN_CHANGES_MAX = 200;
/** Plans of one user that are not applied yet. */
export const PLANS_MAX = 50;
/** Changes of a plan whose effect is computed. */
export const EFFECTS_MAX = 25;
/** Hosts that are named for each figure. */
export const EFFECT_HOSTS = 10;

const MiB = 1024 * 1024;
const SECRETS_MAX = 1000;

export const planStates = ["pending", "applied", "expired"] as const;
export type PlanState = (typeof planStates)[number];

/** The value was parsed from JSON. */
const Json = z.unknown() as z.ZodType<z.core.util.JSONType>;

export const PlanChange = ThingKey.extend({
  action: z.enum(["set", "delete"]).meta({ description: "set: create the object, or change the fields in value" }),
  value: Json.optional().meta({ description: "fields as in files; secrets are {$secret: ref}" }),
});
export type PlanChange = z.infer<typeof PlanChange>;

/** In the order in which a host is checked: each host is counted for the first that applies. */
export const cannotReasons = ["wrong_platform", "not_managed", "label_excluded"] as const;
export type CannotReason = (typeof cannotReasons)[number];

export const EffectHosts = z.object({
  count: z.int(),
  hosts: z
    .array(z.object({ id: Id, display_name: z.string() }))
    .meta({ description: `the first ${EFFECT_HOSTS}, of those that the caller may list` }),
});
export type EffectHosts = z.infer<typeof EffectHosts>;

export const PlanEffect = z.object({
  get: EffectHosts.meta({ description: "hosts that do not have it now" }),
  lose: EffectHosts.meta({ description: "hosts that do not have it any more" }),
  change: EffectHosts.meta({ description: "hosts that have it now and after the change, which differs" }),
  cannot: z
    .array(EffectHosts.extend({ reason: z.enum(cannotReasons) }))
    .meta({ description: "hosts of its scope and labels that do not get it" }),
  not_computed: z.array(z.string()).meta({ description: "what the counts leave out, in sentences" }),
});
export type PlanEffect = z.infer<typeof PlanEffect>;

export const PlannedField = z.object({
  path: z.string().meta({ description: "dotted; empty if the value has no fields" }),
  old: z.json().optional().meta({ description: "absent: the field is new" }),
  new: z.json().optional().meta({ description: "absent: the field is removed" }),
  secret: z.literal(true).optional().meta({ description: "a secret that differs; its values are not shown" }),
});
export type PlannedField = z.infer<typeof PlannedField>;

export const PlannedChange = ThingKey.extend({
  action: z.enum(["create", "update", "delete"]),
  title: Title,
  fields: z.array(PlannedField).meta({ description: "of updates: the fields that differ" }),
  value: z.json().meta({ description: "the complete new value with secrets masked; null for deletions" }),
  effect: PlanEffect.nullable().meta({ description: `null after the first ${EFFECTS_MAX} changes` }),
});
export type PlannedChange = z.infer<typeof PlannedChange>;

export const PlanItem = z.object({
  id: Id,
  name: z.string(),
  state: z.enum(planStates),
  created_at: Timestamp,
  created_by: Person,
  expires_at: Timestamp.meta({ description: "until then it can be applied; applied plans are kept until then" }),
  applied_at: Timestamp.nullable(),
  applied_by: Person.nullable(),
  digest: z.string().meta({ description: "of the objects as they were when the plan was made" }),
  summary: z.object({ create: z.int(), update: z.int(), delete: z.int() }),
});
export type PlanItem = z.infer<typeof PlanItem>;

export const Plan = PlanItem.extend({
  changes: z.array(PlannedChange).meta({ description: "without those that would change nothing" }),
  may_apply: z.boolean().meta({ description: "whether the caller may apply it now" }),
});
export type Plan = z.infer<typeof Plan>;

export const CreatePlan = z.object({
  name: nameText()
    .optional()
    .meta({ description: "what the plan is for; absent: the name of the plan that it extends" }),
  extends: Id.optional().meta({
    description: "a pending plan of the caller: its changes come first, and the new plan takes its place",
  }),
  changes: z.array(PlanChange).min(1).max(PLAN_CHANGES_MAX),
  secrets: z
    .record(z.string().min(1).max(64), z.string().max(64 * 1024))
    .refine((texts) => Object.keys(texts).length <= SECRETS_MAX, { error: `must not be more than ${SECRETS_MAX}` })
    .optional()
    .meta({ description: "secret texts by ref, kept encrypted until the plan is applied" }),
  files: z
    .record(z.string().regex(/^[0-9a-f]{64}$/), z.string().max(2 * MiB))
    .optional()
    .meta({ description: "small files that values refer to, such as profiles: base64 by SHA-256 digest in hex" }),
});
export type CreatePlan = z.output<typeof CreatePlan>;

const params = z.object({ id: IdParam });
const response = z.object({ plan: Plan });

/** The service checks who may read, apply and delete a plan. */
export const plansApi = {
  list: endpoint({
    method: "GET",
    path: "/plans",
    summary: "List plans: your own, and those about what you may read.",
    access: "user",
    query: paging("id", "created_at", "expires_at").extend({ state: z.enum(planStates).optional() }),
    response: z.object({ plans: z.array(PlanItem), meta: Meta }),
  }),
  get: endpoint({
    method: "GET",
    path: "/plans/:id",
    summary: "Get a plan with its changes and their effect on hosts.",
    access: "user",
    params,
    response,
  }),
  create: endpoint({
    method: "POST",
    path: "/plans",
    summary: "Plan changes of the configuration: the server tries them out and keeps them with their effect on hosts.",
    access: "user",
    bodyLimit: 4 * MiB,
    body: CreatePlan,
    response,
  }),
  apply: endpoint({
    method: "POST",
    path: "/plans/:id/apply",
    summary: "Apply a plan in one transaction; refused (409) if what it was made against has changed.",
    access: "user",
    params,
    response,
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/plans/:id",
    summary: "Delete a plan without applying it.",
    access: "user",
    params,
    response: Empty,
  }),
};
