package io.ebbfs.manager.schedule;

import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import org.quartz.DisallowConcurrentExecution;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.JobKey;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs tasks periodically by Quartz. Two runs of the same task never overlap. Thread-safe. */
public final class QuartzSchedules implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(QuartzSchedules.class);
  private static final String TASKS = "tasks";

  /** A periodic task. An exception is logged, and the task runs again at its next time. */
  public interface Task {
    void run() throws Exception;
  }

  private final Scheduler scheduler;
  private final Map<String, Task> tasks = new HashMap<>();

  public QuartzSchedules() throws SchedulerException {
    Properties properties = new Properties();
    properties.put("org.quartz.scheduler.instanceName", "ebbfs-" + UUID.randomUUID());
    properties.put("org.quartz.scheduler.skipUpdateCheck", "true");
    properties.put("org.quartz.scheduler.makeSchedulerThreadDaemon", "true");
    properties.put("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool");
    properties.put("org.quartz.threadPool.threadCount", "3");
    properties.put("org.quartz.threadPool.makeThreadsDaemons", "true");
    properties.put("org.quartz.jobStore.class", "org.quartz.simpl.RAMJobStore");
    scheduler = new StdSchedulerFactory(properties).getScheduler();
    scheduler.getContext().put(TASKS, tasks);
  }

  /** Schedules a task; the first run comes after the delay. Call it before {@link #start}. */
  public void every(String name, long delayMillis, long millis, Task task)
      throws SchedulerException {
    tasks.put(name, task);
    scheduler.scheduleJob(
        JobBuilder.newJob(TaskJob.class).withIdentity(name).build(),
        TriggerBuilder.newTrigger()
            .withIdentity(name)
            .startAt(new Date(System.currentTimeMillis() + delayMillis))
            .withSchedule(
                SimpleScheduleBuilder.simpleSchedule()
                    .withIntervalInMilliseconds(millis)
                    .repeatForever()
                    .withMisfireHandlingInstructionNextWithRemainingCount())
            .build());
  }

  public void start() throws SchedulerException {
    scheduler.start();
  }

  /** Runs a task soon, in addition to its schedule. */
  public void trigger(String name) throws SchedulerException {
    scheduler.triggerJob(JobKey.jobKey(name));
  }

  @Override
  public void close() {
    try {
      scheduler.shutdown(true);
    } catch (SchedulerException e) {
      LOG.warn("The schedules did not stop cleanly: {}", e.getMessage());
    }
  }

  /** The only kind of Quartz job: it runs the task of its name. Quartz needs it public. */
  @DisallowConcurrentExecution
  public static final class TaskJob implements Job {
    @Override
    public void execute(JobExecutionContext context) {
      String name = context.getJobDetail().getKey().getName();
      try {
        Map<?, ?> tasks = (Map<?, ?>) context.getScheduler().getContext().get(TASKS);
        ((Task) tasks.get(name)).run();
      } catch (io.ebbfs.manager.view.NamenodeException e) {
        LOG.debug("Task {}: {}", name, e.getMessage());
      } catch (Exception e) {
        LOG.error("Task {} failed; it runs again at its next time", name, e);
      }
    }
  }
}
