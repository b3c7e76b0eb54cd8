import Terminal

/// What is said where samples are left out because of their time (`PlausibleTime`).
enum ImplausibleTime {
  static func say(_ count: Int) {
    guard count > 0 else { return }
    Console.say(
      "Left out: \(HumanFormat.count(count, "sample")) from before 1900 or from more than a year ahead; --from and --to "
        + "reach them.")
  }
}
