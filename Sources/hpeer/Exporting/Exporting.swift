import HealthFormats
import HealthModel
import HealthStore
import Terminal

/// What an export did.
struct ExportSummary: Sendable {
  var written = 0
  /// By type.
  var omitted: [SampleType: Int] = [:]
}

/// Moves samples from the store into a file, in constant memory.
struct Exporting: Sendable {
  let reader: StoredSampleReader
  let plan: StoredSampleReader.Plan
  let file: OutputFile
  let bar: ProgressBar

  func run(_ writer: some SampleFileWriter) async throws -> ExportSummary {
    try await writing {
      var writer = writer
      var summary = ExportSummary()
      var bytes: [UInt8] = []
      writer.begin(into: &bytes)
      for type in plan.types {
        try await reader.pages(of: type) { page in
          for sample in page { try writer.append(sample, to: &bytes) }
          try await flush(&bytes)
          summary.written += page.count
          bar.advance(items: page.count)
        }
      }
      writer.end(into: &bytes)
      try await flush(&bytes)
      return summary
    }
  }

  /// In the order of Apple's file: the person, then what belongs to each section.
  func run(_ writer: AppleExportWriter) async throws -> ExportSummary {
    try await writing {
      var writer = writer
      var summary = ExportSummary()
      var sections: [AppleExportWriter.Section: [SampleType]] = [:]
      for type in plan.types {
        guard let first = try await reader.first(of: type) else { continue }
        sections[AppleExportWriter.section(of: first), default: []].append(type)
      }
      var characteristics: [Sample] = []
      for type in sections[.characteristics] ?? [] {
        try await reader.pages(of: type) { characteristics += $0 }
      }
      writer.begin(characteristics: characteristics)
      var routes = try await self.routes(of: sections[.routes] ?? [], &summary)
      for section in AppleExportWriter.Section.allCases where section != .routes {
        for type in sections[section] ?? [] {
          try await reader.pages(of: type) { page in
            for sample in page {
              let inWorkout = sample.type == .workout ? routes.removeValue(forKey: sample.reference) ?? [] : []
              if writer.append(sample, related: inWorkout.isEmpty ? try await members(of: sample) : inWorkout) {
                summary.written += 1 + inWorkout.count
              } else {
                summary.omitted[type, default: 0] += 1
              }
            }
            var bytes = writer.take()
            try await flush(&bytes)
            bar.advance(items: page.count)
          }
        }
      }
      writer.end()
      var bytes = writer.take()
      try await flush(&bytes)
      // Of workouts that are not among what is exported.
      for route in routes.values.joined() { summary.omitted[route.type, default: 0] += 1 }
      return summary
    }
  }

  /// By workout. Without the points of those that have a file, because the XML does not have them either.
  private func routes(
    of types: [SampleType], _ summary: inout ExportSummary
  ) async throws -> [SampleReference: [Sample]] {
    var routes: [SampleReference: [Sample]] = [:]
    for type in types {
      try await reader.pages(of: type) { page in
        for var sample in page {
          guard case .workoutRoute(var route) = sample.payload, let workout = route.workout else {
            summary.omitted[type, default: 0] += 1
            continue
          }
          if route.path != nil { route.points = [] }
          sample.payload = .workoutRoute(route)
          routes[workout, default: []].append(sample)
        }
        bar.advance(items: page.count)
      }
    }
    return routes
  }

  private func members(of sample: Sample) async throws -> [Sample] {
    guard case .correlation(let correlation) = sample.payload else { return [] }
    var members: [Sample] = []
    for reference in correlation.members {
      if let member = try await reader.store.sample(reference) { members.append(member) }
    }
    return members
  }

  // MARK: The file

  /// The file is there when `body` has ended well; else nothing is left of it.
  private func writing(_ body: () async throws -> ExportSummary) async throws -> ExportSummary {
    do {
      let summary = try await body()
      try await onThread { [file] _ in try file.finish() }
      return summary
    } catch {
      file.discard()
      throw error
    }
  }

  private func flush(_ bytes: inout [UInt8]) async throws {
    if bytes.isEmpty { return }
    let taken = bytes
    bytes.removeAll(keepingCapacity: true)
    try await onThread { [file] _ in try file.write(taken) }
  }
}
