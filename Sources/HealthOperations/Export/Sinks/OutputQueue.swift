import OperatingSystem

/// Writes to a sink on a thread of its own, one piece behind, so that what comes next is read and put into words while the
/// disk, or a compressor, is at work. Used by one task.
actor OutputQueue {
  private let sink: any ExportSink
  /// The piece that is being written.
  private var pending: Task<Void, any Error>?

  init(_ sink: any ExportSink) { self.sink = sink }

  /// Waits for the piece before, and throws what became of it.
  func write(_ bytes: [UInt8]) async throws { try await write { bytes } }

  /// The same of what `make` makes on that thread.
  func write(_ make: @escaping @Sendable () -> [UInt8]) async throws {
    try await settle()
    pending = Task { [sink] in
      try await onThread { _ in
        let bytes = make()
        if !bytes.isEmpty { try sink.write(bytes) }
      }
    }
  }

  /// All has been written.
  func finish() async throws {
    try await settle()
    try await onThread { [sink] _ in try sink.finish() }
  }

  /// Leaves nothing of what was written, if the sink can do that.
  func discard() async {
    // Not while the thread uses it.
    try? await settle()
    await onThread { [sink] _ in sink.discard() }
  }

  private func settle() async throws {
    defer { pending = nil }
    try await pending?.value
  }
}
