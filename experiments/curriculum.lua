return {
  { name = "memcopy", study = "memcopy" },
}
