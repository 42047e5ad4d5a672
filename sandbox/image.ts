/** The image that code and workspaces run in where nothing else is said; sandbox/buildImage.sh makes it. */
export const sandboxImage = 'work-ledger-sandbox';
