export function storage() { return new Response('no', {status: 404}) }
