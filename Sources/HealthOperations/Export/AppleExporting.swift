import HealthFormats
import HealthModel

extension Exporting {
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
      var routes = try await reader.routes()
      for section in AppleExportWriter.Section.allCases {
        for type in sections[section] ?? [] {
          if section == .routes {
            try await countRoutes(of: type, &summary)
            continue
          }
          try await reader.pages(of: type) { page in
            for sample in page { try await append(sample, &routes, to: &writer, &summary) }
            var bytes = writer.take()
            try await flush(&bytes)
            stage.advance(items: page.count, bytes: 0)
          }
        }
      }
      writer.end()
      var bytes = writer.take()
      try await flush(&bytes)
      return summary
    }
  }

  private func append(
    _ sample: Sample, _ routes: inout [SampleReference: [SampleReference]], to writer: inout AppleExportWriter,
    _ summary: inout ExportSummary
  ) async throws {
    if writer.beginWorkout(sample) {
      for reference in routes.removeValue(forKey: sample.reference) ?? [] {
        guard let route = try await reader.store.samples.sample(reference), writer.append(route: route) else {
          continue
        }
        summary.routes += 1
        if AppleExportWriter.hasMore(route) { summary.partial += 1 }
        var bytes = writer.take()
        try await flush(&bytes)
      }
      writer.endWorkout()
      summary.written += 1
    } else if writer.append(sample, related: try await reader.members(of: sample)) {
      summary.written += 1
      if AppleExportWriter.hasMore(sample) { summary.partial += 1 }
    } else {
      summary.omitted[sample.type, default: 0] += 1
    }
  }

  /// Counts routes, which all have been written that name a workout in the file.
  private func countRoutes(of type: SampleType, _ summary: inout ExportSummary) async throws {
    let count = try await reader.count(of: type)
    stage.advance(items: count, bytes: 0)
    if count > summary.routes { summary.omitted[type] = count - summary.routes }
    summary.written += summary.routes
  }
}
