import Foundation

/// A benchmark of a destination that posts to a receiver, which stores each body as a file, compared with curl, which
/// posts the same bodies.
struct WebhookDelivery {
  private let bench: Bench
  private let row: DestinationRow
  private let section: [String]

  /// - Parameter section: The lines of the destination, except for its `url`.
  init(_ bench: Bench, _ row: DestinationRow, _ section: [String]) {
    (self.bench, self.row, self.section) = (bench, row, section)
  }

  private static let receiver = """
    import http.server, itertools, sys
    number = itertools.count()
    class Receiver(http.server.BaseHTTPRequestHandler):
      protocol_version = "HTTP/1.1"
      def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open("%s/%06d" % (sys.argv[1], next(number)), "wb") as file: file.write(body)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
      def log_message(self, *arguments): pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    print("port %d." % server.server_address[1], file=sys.stderr, flush=True)
    server.serve_forever()
    """

  func measure() async throws -> Row {
    guard let python = OtherProgram.find("python3"), let curl = OtherProgram.find("curl") else {
      return Row(row, skipped: "python3 and curl are not both installed")
    }
    var comparison = DeliveryComparison()
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      let (kept, again) = (bench.workspace.fresh("kept"), bench.workspace.fresh("again"))
      for folder in [kept, again] {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      }
      let (first, port) = try await OtherProgram.start(python, ["-c", Self.receiver, kept], #/port (\d+)\./#, bench)
      let delivery = try await TimedDelivery(bench, section + ["url = \"http://127.0.0.1:\(port)/\""])
      try await first.stop(SIGKILL)
      let (second, other) = try await OtherProgram.start(python, ["-c", Self.receiver, again], #/port (\d+)\./#, bench)
      let files = try DeliveredFiles.all(in: kept)
      let requests = files.map { "url = \"http://127.0.0.1:\(other)/\"\ndata-binary = \"@\(kept)/\($0)\"\nsilent\n" }
      let byHand = try await Program(path: curl).run(
        ["--config", "-"], home: nil, input: requests.joined(separator: "next\n"), in: bench.workspace)
      try await second.stop(SIGKILL)
      let bytes = try files.reduce(0) { sum, name in
        sum + (try FileManager.default.attributesOfItem(atPath: "\(kept)/\(name)")[.size] as? Int ?? 0)
      }
      if round >= bench.sizes.warmUps { comparison.add(delivery, floor: (byHand.seconds, bytes)) }
      for path in [kept, again, delivery.home] { bench.workspace.remove(path) }
    }
    return comparison.row(row, byHand: "curl")
  }
}

/// A namespace for finding and starting third-party programs.
enum OtherProgram {
  /// Returns the path of a program in PATH, or `nil` if it isn't installed.
  static func find(_ name: String) -> String? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
      .lazy.compactMap { found("\($0)/\(name)") }.first
  }

  /// Returns the path, or `nil` if it isn't executable.
  static func found(_ path: String) -> String? { access(path, X_OK) == 0 ? path : nil }

  /// Starts a server and waits until it prints its port to standard error.
  static func start(
    _ path: String, _ arguments: [String], _ port: Regex<(Substring, Substring)>, _ bench: Bench
  ) async throws -> (service: Service, port: Int) {
    let service = try Service(try Program(path: path), arguments, home: nil, in: bench.workspace)
    let (_, digits) = try await service.errors(matching: port)
    return (service, Int(digits) ?? 0)
  }
}
