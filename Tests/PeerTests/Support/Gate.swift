/// Lets a few tests at a time have a server: each has two databases and threads of its own, and all tests together
/// would need more file descriptors than a process has.
actor Gate {
  static let servers = Gate(places: 4)
  /// Whether the test that asks has a place already.
  @TaskLocal static var hasPlace = false

  private var places: Int
  private var queue: [CheckedContinuation<Void, Never>] = []

  init(places: Int) {
    self.places = places
  }

  func enter() async {
    guard places == 0 else {
      places -= 1
      return
    }
    await withCheckedContinuation { queue.append($0) }
  }

  func leave() {
    if queue.isEmpty { places += 1 } else { queue.removeFirst().resume() }
  }
}
