//! Commands that wait to be sent: launches and copies, in the order of the calls. They are written for the driver only
//! when they are sent, since the parameters of all of them lie in one buffer, whose size is known then.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;
use stridewise_core::Result;

use super::Device;
use super::pipelines::Pipeline;
use super::pool::USAGE;
use crate::faults::Faults;

/// So many commands are sent without waiting for a read, so that the device starts working.
const LONG: usize = 512;

/// Where a copy comes from.
pub(super) enum Source {
    /// The batch's own bytes.
    Arena,
    Buffer(wgpu::Buffer),
}

/// A kernel with its output, its inputs and its workgroups.
pub(super) struct Launch {
    pub(super) pipeline: Arc<Pipeline>,
    pub(super) buffers: SmallVec<[wgpu::Buffer; 4]>,
    pub(super) groups: [u32; 2],
}

enum Command {
    /// A launch, and where its parameters lie in the arena.
    Launch(Launch, Range<usize>),
    Copy {
        from: Source,
        at: u64,
        to: wgpu::Buffer,
        to_at: u64,
        bytes: u64,
    },
    Clear(wgpu::Buffer),
}

/// Commands that have not been sent.
pub(super) struct Batch {
    commands: Vec<Command>,
    /// Parameters of kernels and bytes of small uploads.
    arena: Vec<u8>,
    /// Parameters begin at multiples of this.
    align: usize,
    /// Buffers that held an arena, to be used again. They are written before all commands of a batch, so they are
    /// not the pool's, whose buffers may have uses earlier in the same batch.
    arenas: Vec<wgpu::Buffer>,
    /// Bytes in buffers that only carry uploads.
    staged: u64,
    /// Behind the same lock, so that nobody looks for the outcome of a check that has not been added yet.
    pub(super) faults: Faults,
}

impl Batch {
    pub(super) fn new(limits: &wgpu::Limits, slots: wgpu::Buffer) -> Batch {
        Batch {
            commands: Vec::new(),
            arena: Vec::new(),
            align: limits.min_storage_buffer_offset_alignment.max(4) as usize,
            arenas: Vec::new(),
            staged: 0,
            faults: Faults::new(slots),
        }
    }

    pub(super) fn launch(&mut self, launch: Launch, params: &[u32]) {
        let words = params.iter().flat_map(|word| word.to_le_bytes());
        let start = self.place(self.align);
        self.arena.extend(words);
        // There is no binding of nothing.
        self.arena.resize(self.arena.len().max(start + 4), 0);
        let params = start..self.arena.len();
        self.commands.push(Command::Launch(launch, params));
    }

    /// A copy; places and bytes are multiples of 4.
    pub(super) fn copy(
        &mut self,
        from: &wgpu::Buffer,
        at: u64,
        to: &wgpu::Buffer,
        to_at: u64,
        bytes: u64,
    ) {
        self.commands.push(Command::Copy {
            from: Source::Buffer(from.clone()),
            at,
            to: to.clone(),
            to_at,
            bytes,
        });
    }

    /// A copy of bytes that are kept in the batch; the place is a multiple of 4.
    pub(super) fn write(&mut self, bytes: &[u8], to: &wgpu::Buffer, to_at: u64) {
        let at = self.place(4);
        self.arena.extend_from_slice(bytes);
        let end = self.place(4);
        self.commands.push(Command::Copy {
            from: Source::Arena,
            at: at as u64,
            to: to.clone(),
            to_at,
            bytes: (end - at) as u64,
        });
    }

    /// Fills a buffer with zeros.
    pub(super) fn clear(&mut self, buffer: &wgpu::Buffer) {
        self.commands.push(Command::Clear(buffer.clone()));
    }

    /// Notes that a buffer of so many bytes is there for an upload only; says how many such bytes there are.
    pub(super) fn stage(&mut self, bytes: u64) -> u64 {
        self.staged += bytes;
        self.staged
    }

    /// The arena's next place at a multiple of `align`.
    fn place(&mut self, align: usize) -> usize {
        let at = self.arena.len().next_multiple_of(align);
        self.arena.resize(at, 0);
        at
    }
}

impl Device {
    /// Sends the batch if it is long.
    pub(super) fn submit_if_long(&self, batch: &mut Batch) -> Result<()> {
        match batch.commands.len() >= LONG {
            true => self.submit(batch).map(drop),
            false => Ok(()),
        }
    }

    /// Sends the batch. If that fails the device is lost, since what tensors of the batch hold is not known.
    pub(super) fn submit(&self, batch: &mut Batch) -> Result<Option<wgpu::SubmissionIndex>> {
        if batch.commands.is_empty() {
            return self.require_alive().map(|()| None);
        }
        let commands = std::mem::take(&mut batch.commands);
        let arena = std::mem::take(&mut batch.arena);
        batch.staged = 0;
        let sent = self.guarded(|| {
            let params = self.arena(batch, &arena);
            let encoded = self.encode(&commands, &params);
            let index = self.0.queue.submit([encoded]);
            batch.arenas.push(params);
            index
        });
        self.0.counters.submissions.add(1);
        match sent {
            Ok(index) => {
                batch.arena = arena;
                batch.arena.clear();
                Ok(Some(index))
            }
            Err(error) => Err(self.lose_for(error.report().message())),
        }
    }

    /// A buffer with the batch's bytes. An earlier batch's may be used again: the queue writes it after that has run.
    fn arena(&self, batch: &mut Batch, bytes: &[u8]) -> wgpu::Buffer {
        let large = |buffer: &wgpu::Buffer| buffer.size() >= bytes.len() as u64;
        let buffer = match batch.arenas.iter().position(large) {
            Some(at) => batch.arenas.swap_remove(at),
            None => {
                batch.arenas.clear();
                self.0.raw.create_buffer(&wgpu::BufferDescriptor {
                    label: None,
                    size: bytes.len().next_power_of_two().max(4096) as u64,
                    usage: USAGE,
                    mapped_at_creation: false,
                })
            }
        };
        if !bytes.is_empty() {
            self.0.queue.write_buffer(&buffer, 0, bytes);
        }
        buffer
    }

    fn encode(&self, commands: &[Command], arena: &wgpu::Buffer) -> wgpu::CommandBuffer {
        let raw = &self.0.raw;
        let mut encoder = raw.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = None;
        for command in commands {
            match command {
                Command::Launch(launch, params) => {
                    let Launch {
                        pipeline,
                        buffers,
                        groups: [x, y],
                    } = launch;
                    let params = wgpu::BufferBinding {
                        buffer: arena,
                        offset: params.start as u64,
                        size: wgpu::BufferSize::new(params.len() as u64),
                    };
                    let params = wgpu::BindingResource::Buffer(params);
                    let rest = buffers.iter().map(wgpu::Buffer::as_entire_binding);
                    let entries: SmallVec<[wgpu::BindGroupEntry; 4]> = std::iter::once(params)
                        .chain(rest)
                        .zip(0..)
                        .map(|(resource, binding)| wgpu::BindGroupEntry { binding, resource })
                        .collect();
                    let group = raw.create_bind_group(&wgpu::BindGroupDescriptor {
                        label: None,
                        layout: &pipeline.layout,
                        entries: &entries,
                    });
                    // Launches that follow each other share a pass; the driver is told to wait between them by wgpu.
                    let pass = pass.get_or_insert_with(|| {
                        encoder
                            .begin_compute_pass(&wgpu::ComputePassDescriptor::default())
                            .forget_lifetime()
                    });
                    pass.set_pipeline(&pipeline.raw);
                    pass.set_bind_group(0, &group, &[]);
                    pass.dispatch_workgroups(*x, *y, 1);
                }
                Command::Copy {
                    from,
                    at,
                    to,
                    to_at,
                    bytes,
                } => {
                    drop(pass.take());
                    let from = match from {
                        Source::Arena => arena,
                        Source::Buffer(buffer) => buffer,
                    };
                    encoder.copy_buffer_to_buffer(from, *at, to, *to_at, Some(*bytes));
                }
                Command::Clear(buffer) => {
                    drop(pass.take());
                    encoder.clear_buffer(buffer, 0, None);
                }
            }
        }
        drop(pass);
        encoder.finish()
    }

    /// Waits until everything that was sent is done.
    pub(super) fn wait(&self) -> Result<()> {
        // A wait ends early only where the device is lost, which is told below.
        let _ = self.0.raw.poll(wgpu::PollType::wait_indefinitely());
        self.require_alive()
    }
}
