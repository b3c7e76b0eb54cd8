/// A semaphore that limits the number of tests with a running server. Each server has two databases and its own
/// threads, so all tests at once would run out of file descriptors.
actor Gate {
  static let servers = Gate(places: 4)
  /// Whether the current test already has a place.
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
