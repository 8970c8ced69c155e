/** The message with which the server refuses changes in GitOps mode, and by which the command line knows them. */
export const GITOPS_MODE_IS_ON = "GitOps mode is on";
