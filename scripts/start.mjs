/** `npm start`: installs what is missing, then runs the whole platform. */
process.argv.splice(2, 0, 'start')
await import('./lockstep.mjs')
