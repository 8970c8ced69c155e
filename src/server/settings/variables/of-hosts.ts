/** What users write as `$SVC_VAR_NAME`: facts about a host and its end user. */
export const hostVariables = [
  "HOST_UUID",
  "HOST_HARDWARE_SERIAL",
  "HOST_PLATFORM",
  "HOST_END_USER_EMAIL_IDP",
  "HOST_END_USER_IDP_USERNAME",
  "HOST_END_USER_IDP_USERNAME_LOCAL_PART",
  "HOST_END_USER_IDP_FULL_NAME",
  "HOST_END_USER_IDP_DEPARTMENT",
  "HOST_END_USER_IDP_GROUPS",
] as const;
